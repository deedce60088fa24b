"""Read the command line, print and exit; one module per command."""
