"""One way to rewrite per module: `CODES` it answers, and `match`, which offers forms or refuses.

`match` returns forms, the best first; none where the place is nothing the pattern knows.
"""
