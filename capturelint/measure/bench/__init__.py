"""What a graph is worth, by batch size: measured at one edge, judged from plain numbers."""
