"""What torch does with all operations just now: gradients, inference mode, autocast."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import torch

_AUTOCAST_DEVICES = ("cuda", "cpu")


@dataclass(frozen=True, slots=True)
class Modes:
    """The modes in which a module was called. `autocast`: the dtype by type of device, where on."""

    gradients: bool
    inference: bool
    autocast: tuple[tuple[str, torch.dtype], ...]

    @staticmethod
    def now() -> Modes:
        """Return the modes that are set now."""
        return Modes(
            gradients=torch.is_grad_enabled(),
            inference=torch.is_inference_mode_enabled(),
            autocast=tuple(
                (device, torch.get_autocast_dtype(device))
                for device in _AUTOCAST_DEVICES
                if torch.is_autocast_enabled(device)
            ),
        )

    @contextmanager
    def set(self) -> Iterator[None]:
        """Run what is inside in these modes, whatever is set outside."""
        wanted = dict(self.autocast)
        with ExitStack() as stack:
            if self.inference != torch.is_inference_mode_enabled():
                # Entering it, also with False, changes more than this mode.
                stack.enter_context(torch.inference_mode(self.inference))
            stack.enter_context(torch.set_grad_enabled(self.gradients))
            for device in _AUTOCAST_DEVICES:
                if device in wanted or torch.is_autocast_enabled(device):
                    stack.enter_context(
                        torch.autocast(device, dtype=wanted.get(device), enabled=device in wanted)
                    )
            yield
