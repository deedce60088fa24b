"""How a case is to be run: what the user may choose, with the defaults."""

from __future__ import annotations

from dataclasses import dataclass

from capturelint.execution import Asked


@dataclass(frozen=True, slots=True)
class Settings:
    """The choices of one run.

    `backend`: `auto`, `cuda` or `simulated`. `train`: put modules into training mode, with
    gradients. `dtype`, `autocast`: names such as `bfloat16`, or None for as the case is. `replays`:
    on fresh inputs, after the one on the captured inputs. `warmup`: eager calls before a capture,
    None for until state is stable; 0 captures cold. `cold`: also capture without warm-up.
    `modules`, `skip`: globs over module paths: judge only those, leave those out. `rtol`, `atol`:
    None for the bound of the dtype. `capture_error_mode`: what CUDA forbids meanwhile, as torch has it. `redraw`: names of inputs whose integers are drawn anew too.
    `timeout`: seconds that one step may take. `first`: stop at the first culprit.
    `record_limit`: MiB of inputs kept for the modules of one level. `pad`: also judge whether what
    pad rows hold moves real ones. `batch_dim`: which dimension is the batch, `0` for all inputs or
    `x=0` for one, in place of what the case says. `soak`: more replays after a pass, 0 for none. `asked`:
    stretches of files to watch in the run as if capturing.
    """

    backend: str = "auto"
    train: bool = False
    dtype: str | None = None
    autocast: str | None = None
    replays: int = 6
    warmup: int | None = None
    cold: bool = False
    modules: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    rtol: float | None = None
    atol: float | None = None
    redraw: tuple[str, ...] = ()
    timeout: float = 300.0
    first: bool = False
    seed: int = 0
    record_limit: int = 4096
    capture_error_mode: str = "global"
    pad: bool = False
    batch_dim: tuple[str, ...] = ()
    soak: int = 0
    asked: tuple[Asked, ...] = ()
