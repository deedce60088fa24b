"""What a run can show of the findings of each rule."""

from __future__ import annotations

# Codes of the tool's own, which are about no code that runs.
NOT_OF_CODE = ("CL000", "CL001", "CL002")
# These are about what stands around a capture, in other threads or compiled: no run of a case shows it.
AROUND = frozenset({"CL603", "CL703", "CL704", "CL803", "CL901", "CL902", "CL903", "CL904"})
# What these say is refused is refused, or waits, at the line itself; of others it may show elsewhere.
SHOWN_AT_LINE = frozenset(
    "CL101 CL102 CL103 CL104 CL105 CL106 CL201 CL202 CL203 CL301 CL302 CL401 CL402 CL403 CL701 CL801"
    " CL804".split()
)
# Of these, equal replays on inputs that vary show that no value goes stale. Others, such as counters
# and random numbers, may be equal for a while; what a first call makes (CL504) is made in the warm-up.
SHOWN_BY_REPLAYS = frozenset({"CL102", "CL205", "CL601", "CL602", "CL702"})
