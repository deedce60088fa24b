"""The backend for a GPU: it captures, replays and compares on the device itself."""

from capturelint.debug.cuda.backend import CudaBackend

__all__ = ["CudaBackend"]
