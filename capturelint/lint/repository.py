"""A git repository: its revisions, what changed since one of them, and the files of one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from capturelint.errors import CapturelintError
from capturelint.lint import patch

_LINK, _SUBMODULE = "120000", "160000"
# `Modules` asks where a project begins; nothing is read from these two.
_NAMES = frozenset({"pyproject.toml", "setup.py"})
_SUFFIXES = (".py", ".ipynb")
_MOST_BRANCHES = 5
_PLACES = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"})
_DIFF = (
    "diff --no-color --no-ext-diff --no-textconv --text --no-relative --find-renames --unified=0"
    " --inter-hunk-context=0 --src-prefix=a/ --dst-prefix=b/ --ignore-submodules=all"
)


class GitError(CapturelintError):
    """What `--since` asks of git cannot be had."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"`--since`: {problem}")


@dataclass(frozen=True, slots=True)
class Item:
    """One file of a revision: its mode as git writes it, the id of its content, its path."""

    mode: str
    content: str
    path: str


@dataclass(frozen=True, slots=True)
class Repository:
    """A working tree under `top`, a real path."""

    top: Path
    is_submodule: bool = False

    def git(self, *arguments: str, given: bytes = b"") -> bytes:
        """Return what git prints. Raises `GitError` with what it complains of."""
        done = _git(self.top, *arguments, given=given, is_alone=self.is_submodule)
        if done.returncode:
            raise GitError(f"git failed in {self.top}: {_complaint(done.stderr)}")
        return done.stdout

    def commit(self, revision: str) -> str:
        """Return the id of a revision; `NAME...` is where HEAD branched off from it.

        Raises `GitError`.
        """
        name = revision.removesuffix("...")
        found = self._answer("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        if found and name != revision:
            found = self._answer("merge-base", found, "HEAD")
        if found and not name.startswith("-"):
            return found
        problem = f"no revision {revision!r} in {self.top}"
        if self._answer("rev-parse", "--is-shallow-repository") == "true":
            raise GitError(
                f"{problem}, a shallow clone; fetch more, as with `git fetch --unshallow`"
            )
        raise GitError(f"{problem}; {self._offer()}")

    def _offer(self) -> str:
        """Return words on what revisions there are: the branches, the latest first."""
        listed = self._answer(
            "for-each-ref", "--sort=-committerdate", "--format=%(refname:short)", "refs/heads"
        )
        names = listed.split()
        if not names:
            return "`git log --oneline` lists some"
        more = ", ..." if len(names) > _MOST_BRANCHES else ""
        noun = "the branch is" if len(names) == 1 else "branches are"
        return f"{noun} {', '.join(names[:_MOST_BRANCHES])}{more}"

    def changed(self, commit: str) -> patch.Patch:
        """Return what changed since a commit in files that git tracks, staged or not."""
        return patch.read(self.git(*_DIFF.split(), commit, "--"))

    def untracked(self) -> list[str]:
        """Return the files that git neither tracks nor ignores."""
        return _names(self.git("ls-files", "-z", "--others", "--exclude-standard"))

    def tracked(self) -> list[str]:
        """Return the files in the index, submodules not among them."""
        return [item.path for item in self._index() if item.mode != _SUBMODULE]

    def submodules(self) -> Iterator[tuple[str, Repository]]:
        """Yield the path of each submodule that is checked out, and what is in it."""
        for item in self._index():
            folder = self.top / item.path
            if item.mode == _SUBMODULE and (folder / ".git").exists():
                yield item.path, Repository(Path(os.path.realpath(folder)), is_submodule=True)

    def links(self, commit: str) -> dict[str, str]:
        """Return the commits of the submodules of a commit, by their paths."""
        items = self._items(commit)
        return {item.path: item.content for item in items if item.mode == _SUBMODULE}

    def write_files(self, commit: str, folder: Path) -> None:
        """Write what a check can read of a commit below a folder: code, and where projects begin."""
        items = [item for item in self._items(commit) if _is_wanted(item)]
        wanted = "".join(f"{item.content}\n" for item in items).encode()
        contents = self.git("cat-file", "--batch", given=wanted)
        at = 0
        for item in items:
            start = contents.index(b"\n", at) + 1
            end = start + int(contents[at:start].split()[2])
            _write(folder, item, contents[start:end])
            at = end + 1

    def _index(self) -> Iterator[Item]:
        for text in _names(self.git("ls-files", "-z", "--stage")):
            facts, _, path = text.partition("\t")
            mode, content, _ = facts.split()
            yield Item(mode, content, path)

    def _items(self, commit: str) -> Iterator[Item]:
        for text in _names(self.git("ls-tree", "-r", "-z", "--full-tree", commit)):
            facts, _, path = text.partition("\t")
            mode, _, content = facts.split()
            yield Item(mode, content, path)

    def _answer(self, *arguments: str) -> str:
        """Return the one line that git answers with, "" when it fails."""
        done = _git(self.top, *arguments, is_alone=self.is_submodule)
        return "" if done.returncode else os.fsdecode(done.stdout).strip()


def repository_of(path: Path) -> Repository:
    """Return the repository that a file or folder is in. Raises `GitError`."""
    folder = path if path.is_dir() else path.parent
    if "GIT_DIR" in os.environ:
        # As in a hook, which runs at the top: git would take any other folder for the top.
        folder = Path()
    done = _git(folder, "rev-parse", "--show-toplevel")
    if done.returncode:
        complaint = _complaint(done.stderr)
        if complaint.startswith("not a git repository"):
            raise GitError(f"{folder.resolve()} is in no git repository; leave the option out")
        raise GitError(f"git failed in {folder.resolve()}: {complaint}")
    return Repository(Path(os.path.realpath(os.fsdecode(done.stdout).removesuffix("\n"))))


def _git(
    folder: Path, *arguments: str, given: bytes = b"", is_alone: bool = False
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603 - a fixed program, no shell
            ["git", "-C", os.fspath(folder), *arguments],  # noqa: S607 - git is where PATH says
            input=given,
            capture_output=True,
            check=False,
            env=_environment(is_alone=is_alone),
        )
    except FileNotFoundError as error:
        raise GitError("git is not installed, or not on PATH; install it") from error
    except OSError as error:
        raise GitError(f"git cannot be started: {error.strerror}") from error


def _environment(*, is_alone: bool) -> Mapping[str, str]:
    """Return the variables for git. `is_alone`: without those by which a hook names a repository."""
    kept = dict(os.environ)
    for name in _PLACES & kept.keys():
        if is_alone:
            del kept[name]
        else:
            # A hook may give them as seen from its own folder, and git is told to go to another.
            kept[name] = os.path.abspath(kept[name])  # noqa: PTH100 - links stay as they are
    return {**kept, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


def _complaint(stderr: bytes) -> str:
    lines = [line for line in os.fsdecode(stderr).splitlines() if line.strip()]
    return lines[0].removeprefix("fatal: ") if lines else "it says nothing"


def _names(output: bytes) -> list[str]:
    return [os.fsdecode(name) for name in output.split(b"\0") if name]


def _is_wanted(item: Item) -> bool:
    name = PurePosixPath(item.path).name
    if ".." in PurePosixPath(item.path).parts:
        return False  # git never checks such a path out, but a hostile tree can name it
    return item.mode == _LINK or (
        item.mode != _SUBMODULE and (name in _NAMES or name.lower().endswith(_SUFFIXES))
    )


def _write(folder: Path, item: Item, content: bytes) -> None:
    path = folder / item.path
    path.parent.mkdir(parents=True, exist_ok=True)
    if item.mode != _LINK:
        path.write_bytes(content)
        return
    target = os.fsdecode(content)
    inside = Path(os.path.normpath(path.parent / target))
    # A link that leads out of the repository would lead elsewhere from here.
    if not Path(target).is_absolute() and inside.is_relative_to(folder):
        path.symlink_to(target)
