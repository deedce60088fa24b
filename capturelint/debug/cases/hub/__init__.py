"""Models of other libraries by name: transformers' made tiny, with random weights, and timm's."""
