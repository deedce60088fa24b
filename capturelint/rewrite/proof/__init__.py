"""Rewrites that a run decides: observe a function, try forms, hold them against the old code."""
