"""Which frames are the user's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from capturelint.debug import frames
from capturelint.debug.frames import is_users_file, span_at, users_frames
from capturelint.verdict import Place


def called_from(path: str, call: Callable[[], object]) -> object:
    """Return what `call` returns when code of the file at `path` calls it."""
    names: dict[str, object] = {"call": call}
    exec(compile("def caller():\n    return call()\n", path, "exec"), names)
    caller = names["caller"]
    assert callable(caller)
    return caller()


def test_frames_below_the_engine_are_not_of_the_case() -> None:
    engine = str(Path(frames.__file__).with_name("engine.py"))
    model = "/users/model.py"
    found = called_from(engine, lambda: called_from(model, users_frames))

    assert isinstance(found, tuple)
    # This test calls the model, so it stands for user code; what called the engine does not.
    assert [place for place in found if place.path != __file__] == [Place(model, 2, "caller")]
    assert len([place for place in found if place.path == __file__]) == 2


def test_frames_of_any_caller_count_where_no_engine_runs() -> None:
    found = called_from("/users/model.py", users_frames)

    assert isinstance(found, tuple)
    assert found[0] == Place("/users/model.py", 2, "caller")
    assert found[1].path == __file__


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python tells positions from 3.11 on")
def test_of_a_line_the_expression_that_runs_is_told() -> None:
    names: dict[str, object] = {"at": span_at, "here": Place("/users/model.py", 1)}
    code = compile("'é', at(here), at(here)", "/users/model.py", "eval")

    assert eval(code, names) == ("é", (1, 6, 1, 14), (1, 16, 1, 24))
    assert eval(code, {**names, "here": Place("/users/model.py", 2)}) == ("é", None, None)


def test_what_torch_compile_writes_is_not_the_users() -> None:
    assert not is_users_file("/tmp/torchinductor_me/ab/cdef.py")
    assert is_users_file("/home/me/torchinductor.py")
