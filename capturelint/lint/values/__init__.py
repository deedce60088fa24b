"""What every expression of the captured code is: one flow-sensitive pass over Python's own trees."""
