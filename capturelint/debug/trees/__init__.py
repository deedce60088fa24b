"""Trees of values: their leaves, their copies, and the memory under them."""
