"""What the dispatcher shows of operations on either backend: forms, refusals, what calls launch."""
