"""The measuring half: what graphs are worth, and which batch sizes to capture."""
