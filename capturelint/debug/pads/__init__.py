"""Whether what pad rows hold moves the rows beside them: fills, runs, comparison, lines to blame."""
