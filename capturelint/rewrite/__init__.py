"""Rewrites: code that breaks under capture as code that computes the same and does not."""
