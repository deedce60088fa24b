"""How the histograms in fixtures/traffic were made: two servers simulated step by step."""

from __future__ import annotations

import random
from collections import Counter


def chat(steps: int = 40_000) -> Counter[int]:
    """Return the steps by requests that decode, of a server that people chat with for a day.

    A request arrives with a chance that swells and ebbs twice over the day, and decodes 20 to 400
    tokens; at most 256 run at once, the rest wait.
    """
    drawn = random.Random(1)
    left: list[int] = []
    waiting = 0
    seen: Counter[int] = Counter()
    for step in range(steps):
        phase = (step * 4 // steps % 2, step * 4 % steps / steps)
        load = phase[1] if phase[0] == 0 else 1 - phase[1]
        for _ in range(3):
            waiting += drawn.random() < 0.02 + 0.28 * load
        while waiting and len(left) < 256:
            waiting -= 1
            left.append(20 + int(380 * drawn.random() ** 2))
        seen[len(left)] += 1
        left = [tokens - 1 for tokens in left if tokens > 1]
    return seen


def offline(jobs: int = 12) -> Counter[int]:
    """Return the same of a server that works off jobs of 2,000 prompts, at most 384 at once.

    Each job keeps it full and then thins out, as the longest answers are still decoded.
    """
    drawn = random.Random(2)
    seen: Counter[int] = Counter()
    for _ in range(jobs):
        waiting = [16 + int(1_000 * drawn.random() ** 4) for _ in range(2_000)]
        left: list[int] = []
        while waiting or left:
            while waiting and len(left) < 384:
                left.append(waiting.pop())
            seen[len(left)] += 1
            left = [tokens - 1 for tokens in left if tokens > 1]
    return seen
