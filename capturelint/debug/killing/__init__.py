"""Find what kills the device, or the process, under a graph only: replay the beginnings of a run."""
