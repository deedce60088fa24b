"""Find code that breaks under CUDA graph capture, from its source and by running it."""

__version__ = "0.1.0"
