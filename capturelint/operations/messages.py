"""What CUDA and torch say when a capture meets an operation that it refuses.

As an H200 with torch 2.11.0+cu130 says it, without the advice that follows.
"""

from __future__ import annotations

NOT_PERMITTED = (
    "CUDA error: operation not permitted when stream is capturing "
    "(cudaErrorStreamCaptureUnsupported)"
)
UNPINNED = (
    "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is "
    "pinned. Please use tensor.pin_memory() or allocate the tensor with pin_memory=True."
)
FOREIGN_GENERATOR = "Attempt to increase offset for a CUDA generator not in capture mode."
NO_EIGENVALUES = "cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when calling `cusolverDnXsyevd`"
NO_FACTOR = "cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when calling `cusolverDnSsytrf`"
NO_BLAS = "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`"
NO_DNN = "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"
NO_SOLVER = (
    "cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when calling `cusolverDnCreate(handle)`"
)
NO_FFT = "cuFFT error: CUFFT_INTERNAL_ERROR"
