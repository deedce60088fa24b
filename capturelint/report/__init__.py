"""Turn findings and rules into text, one module per format."""
