"""One attempt: a part captured alone, and its replays compared with eager runs."""
