"""Built-in rules, one per file.

A rule file is named after its rule, `cl101_host_read.py` for CL101 host-read, and holds exactly one
subclass of `capturelint.rule.Rule`. Its docstring is the page that `capturelint rule CL101` prints:
a first paragraph that says what is wrong, then `## Why capture cares` and `## What to do instead`.
It imports libcst and `capturelint.rule`, nothing else, and never another rule.

To add one: copy the nearest rule, give it the next free code, write `fixtures/<same name>.py`, run
`pytest tests/test_rules.py`. Nothing needs to be registered. On a machine with a GPU,
`python -m tests.record --changed` writes down what its examples come to there.
"""
