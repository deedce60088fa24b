"""What a run of `check` leaves for the next: facts per file, and what whole runs found."""
