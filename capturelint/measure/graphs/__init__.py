"""Graphs by batch size: what goes into their static buffers, and what is read out of them."""
