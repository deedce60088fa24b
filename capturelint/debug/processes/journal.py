"""Outcomes kept in a file while a run goes on, so that the next can continue if it is killed."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from capturelint import __version__
from capturelint.debug.cases.loaded_files import are_unchanged
from capturelint.debug.events import Event, Judged, Loaded, from_line, to_line
from capturelint.debug.outcome import Outcome
from capturelint.debug.processes.request import Request
from capturelint.debug.wire import WireError, encode

FOLDER = Path(".capturelint_cache")  # in the working directory
_DRIVER = Path("/dev/nvidiactl")  # is there where NVIDIA's driver is

_OWN_FILES = {
    ".gitignore": "*\n",
    "CACHEDIR.TAG": (
        "Signature: 8a477f597d28d172789f06886806bc55\n"  # as https://bford.info/cachedir has it
        "# Made by capturelint; nothing is lost when it is deleted.\n"
    ),
}


def found_before(request: Request, folder: Path = FOLDER) -> dict[str, Outcome]:
    """Return the outcomes, by step, of a run of `request` that was killed.

    There are none if a file that the case loads has changed since. Lines that hold no outcome,
    because they were cut off or something else wrote them, are left out.
    """
    path = _path(request, folder)
    try:
        # Whoever may write here may also have put a link or a device here.
        lines = path.read_bytes().splitlines() if path.is_file() and not path.is_symlink() else []
    except OSError:
        return {}
    events = list(_events(lines))
    loaded = [event.files for event in events if isinstance(event, Loaded)]
    if not loaded or not all(are_unchanged(files) for files in loaded):
        return {}
    return {event.step: event.outcome for event in events if isinstance(event, Judged)}


class Journal:
    """The file of one run, made when there is something to keep.

    `is_resumed`: add to what is there. `problem`: why nothing is kept, or "".
    """

    def __init__(self, request: Request, *, is_resumed: bool, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._path = _path(request, folder)
        self._descriptor: int | None = None
        self._loaded: Loaded | None = None
        self.problem = ""
        if not is_resumed:
            self._remove()

    def keep(self, event: Event) -> None:
        """Write down an outcome, or what outcomes rest on. Other events are not kept."""
        if self.problem or not isinstance(event, Judged | Loaded) or event == self._loaded:
            return
        if isinstance(event, Loaded):
            self._loaded = event
        try:
            if self._descriptor is None:
                self._descriptor = self._opened()
            os.write(self._descriptor, to_line(event))
        except OSError as error:
            self.problem = f"{self._folder} cannot be written: {error.strerror}"

    def close(self, *, is_done: bool) -> None:
        """Let go of the file, and remove it if the run came to its end."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        if is_done:
            self._remove()

    def _opened(self) -> int:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        for name, text in _OWN_FILES.items():
            path = self._folder / name
            if not path.exists():
                path.write_text(text, encoding="utf-8")
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(self._path, flags, 0o666)
        os.write(descriptor, b"\n")  # the line before may have been cut off
        return descriptor

    def _remove(self) -> None:
        with suppress(OSError):
            self._path.unlink()


def digest(request: Request) -> str:
    """Return what tells this request, with the case file, versions and devices of now, from others."""
    settings = replace(request.settings, timeout=0.0, first=False)  # no outcome depends on them
    named = [request.target, request.inputs, request.call]
    # A run on a GPU goes on with nothing that the simulator judged.
    devices = f"{os.environ.get('CUDA_VISIBLE_DEVICES')} {_DRIVER.exists()}"
    versions = [__version__, platform.python_version(), _version("torch"), devices]
    files = [_contents(text) for text in (request.target, request.inputs or "")]
    return hashlib.sha256(
        json.dumps([named, encode(settings), versions, files]).encode()
    ).hexdigest()


def _path(request: Request, folder: Path) -> Path:
    return folder / "bisect" / f"{digest(request)}.jsonl"


def _events(lines: list[bytes]) -> Iterator[Event]:
    for line in lines:
        with suppress(WireError):
            yield from_line(line)


def _contents(target: str) -> str:
    """Return a digest of the file that `file.py:make` names, or "" if it names none."""
    path = Path(target.rpartition(":")[0])
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    except (OSError, ValueError):
        return ""


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
