"""Cases that users might write: see `tests/test_written.py`."""
