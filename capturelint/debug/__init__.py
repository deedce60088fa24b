"""The dynamic half: run a case, capture each module alone, compare its replays with eager."""
