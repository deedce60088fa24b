"""Capture sites: driver code around a capture, read into steps."""
