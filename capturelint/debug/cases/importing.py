"""Import the user's file or module once, as their own program would, and find a name in it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType

from capturelint.debug.backend import CannotTellError
from capturelint.debug.cases.mistakes import CaseError, place_of, raised
from capturelint.errors import CapturelintError, shown_path


@dataclass(frozen=True, slots=True)
class Target:
    """A name in a file or module. `place`: `models/llama.py` or `pkg.mod`. `name`: dotted."""

    place: str
    name: str

    @property
    def text(self) -> str:
        return f"{self.place}:{self.name}"


def parsed(text: str, *, within: str | None = None, role: str = "what to run") -> Target:
    """Return the target that `text` names; without a place, it is in the file `within`.

    `role`: what it is for, as messages say it.

    Raises `CaseError` if the text names no place, no name, or a file that is not there.
    """
    place, colon, name = text.rpartition(":")
    if not colon and within is not None and not is_file(text):
        return Target(within, text)
    if not colon or not name or is_file(name):
        place = text.rstrip(":")
        raise CaseError(f"{place} names no object in it; name {role}: {place}:make")
    if is_file(place):
        _check_file(place)
    return Target(place, name)


def home_of(text: str) -> Path:
    """Return the folder that what `text` names is imported from: the working directory for modules."""
    place = text.rpartition(":")[0]
    return _package_of(Path(place).resolve())[0] if is_file(place) else Path.cwd()


def found(target: Target) -> object:
    """Return the object that `target` names, importing what it is in.

    Raises `CaseError` if it cannot be imported or has no such name.
    """
    value: object = imported(target.place)
    holder = target.place
    for part in target.name.split("."):
        if not _has(value, part, holder):
            raise CaseError(f"{holder} has no {part!r}; {_hint(part, value)}")
        value = getattr(value, part)
        holder = f"{target.place}:{part}" if holder == target.place else f"{holder}.{part}"
    return value


def imported(place: str) -> ModuleType:
    """Return the module in the file or of the name `place`. Leaves `sys.path` as it needs it."""
    try:
        return _from_file(Path(place)) if is_file(place) else _by_name(place)
    except (CapturelintError, CannotTellError):
        raise
    except SyntaxError as error:
        where = f"{shown_path(error.filename)}:{error.lineno}" if error.filename else place
        raise CaseError(f"{where}: {error.msg}; correct it first") from error
    except ModuleNotFoundError as error:
        raise _missing(place, error) from error
    except (Exception, SystemExit) as error:
        raise raised(f"importing {place}", error) from error


def _from_file(path: Path) -> ModuleType:
    path = Path.cwd() / path
    top, dotted = _package_of(path)
    _look_first_in(Path.cwd())
    _look_first_in(top)
    known = _already_imported(path)
    if known is not None:
        return known
    if dotted != path.stem:
        return _of_package(path, dotted)
    # A file called as a module of the standard library keeps out of its way.
    name = f"{path.stem}_case" if path.stem in sys.modules else path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None, "a path that ends in .py has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _by_name(name: str) -> ModuleType:
    _look_first_in(Path.cwd())
    return importlib.import_module(name)


def _of_package(path: Path, dotted: str) -> ModuleType:
    module = importlib.import_module(dotted)
    if not _is_of(module, path):
        raise CaseError(
            f"{dotted} was imported from {shown_path(module.__file__ or '?')}, not from {shown_path(path)}; "
            "uninstall the other or name it as a module"
        )
    return module


def _package_of(path: Path) -> tuple[Path, str]:
    """Return the folder to import a file from, and its dotted name there."""
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts)


def _already_imported(path: Path) -> ModuleType | None:
    modules = tuple(sys.modules.values())
    return next((one for one in modules if _is_of(one, path)), None)


def _is_of(module: object, path: Path) -> bool:
    file = getattr(module, "__file__", None)
    # Cheap first: there are thousands of modules, and looking at each file costs.
    if not isinstance(file, str) or not file.endswith(path.name):
        return False
    return Path(file).exists() and Path(file).samefile(path)


def _look_first_in(folder: Path) -> None:
    text = str(folder)
    if text in sys.path:
        sys.path.remove(text)
    sys.path.insert(0, text)


def _has(holder: object, name: str, label: str) -> bool:
    try:
        return hasattr(holder, name)
    except Exception as error:  # modules may import what they hold only when asked for it
        raise raised(f"{label}: {name}", error) from error


def _missing(place: str, error: ModuleNotFoundError) -> CaseError:
    missing = error.name or ""
    if not is_file(place) and f"{place}.".startswith(f"{missing}."):
        return CaseError(
            f"no module {missing!r}; run from the folder that holds it, or name a file: "
            "path/to/file.py:make"
        )
    where = place_of(error) or place
    return CaseError(f"{where}: no module {missing!r}; install it where capturelint runs")


def _hint(name: str, holder: object) -> str:
    everything = getattr(holder, "__dict__", {})
    held = {key: one for key, one in everything.items() if not key.startswith("_")}
    near = get_close_matches(name, held, n=1)
    if near:
        return f"did you mean {near[0]}?"
    home = getattr(holder, "__name__", None)
    own = [key for key, one in held.items() if getattr(one, "__module__", None) == home]
    return f"it has {', '.join(own)}" if own else "name a factory, a module or a Case in it"


def is_file(place: str) -> bool:
    """Return whether the user names a file, rather than a module to import."""
    return place.endswith(".py") or "/" in place or "\\" in place


def _check_file(place: str) -> None:
    path = Path(place)
    if path.is_dir():
        raise CaseError(f"{place} is a folder; name a file in it: {place.rstrip('/')}/FILE.py:make")
    if not path.is_file():
        near = get_close_matches(path.stem, [one.stem for one in path.parent.glob("*.py")], n=1)
        right = (path.parent / f"{near[0]}.py").as_posix() if near else ""
        hint = f"did you mean {right}?" if near else "correct the path"
        raise CaseError(f"no file {place}; {hint}")
    if path.suffix != ".py":
        raise CaseError(f"{place} is not a Python file; name one that ends in .py")
