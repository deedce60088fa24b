"""The search for the module to blame, on trees of modules that are only names."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from capturelint.debug.search import Found, How, search, smallest
from capturelint.verdict import Verdict

R, OK, NO = Verdict.REFUSES, Verdict.EQUAL, Verdict.UNDECIDED


class Model:
    """A tree of modules in which some lines fail, alone or together. Counts the attempts made.

    `own`: what a module's own lines show. `pairs`: sets of modules that fail when all run.
    """

    def __init__(
        self,
        called: dict[str, list[str]],
        own: dict[str, Verdict],
        pairs: Sequence[frozenset[str]] = (),
        left_out: str = "",
        lines: Sequence[str] = (),
        bypassed: str = "",
    ) -> None:
        self.tree, self.own, self.pairs, self.left_out = called, own, pairs, left_out
        self.lines, self.bypassed = lines, bypassed
        self.attempts: list[str] = []

    def whole(self, path: str) -> Verdict:
        self.attempts.append(path)
        return self._shown(path, frozenset())

    def called(self, path: str) -> Sequence[str]:
        return self.tree.get(path, [])

    def without(self, path: str, replaced: frozenset[str]) -> Verdict:
        self.attempts.append(f"{path} without {len(replaced)}")
        return self._shown(path, replaced)

    def is_told_by_line(self, path: str, called: Sequence[str]) -> bool:
        return path in self.lines and called == self.called(path)

    def refuses_itself(self, path: str) -> bool:
        return path in self.lines

    def is_left_out(self, path: str) -> bool:
        return path == self.left_out

    def is_bypassed(self, path: str, called: str) -> bool:
        return called == self.bypassed and path != self.bypassed

    def _shown(self, path: str, replaced: frozenset[str]) -> Verdict:
        running = self._running(path, replaced)
        verdicts = [self.own[name] for name in running if name in self.own]
        verdicts += [R for pair in self.pairs if pair <= running]
        return min(verdicts, key=lambda verdict: verdict.rank, default=OK)

    def _running(self, path: str, replaced: frozenset[str]) -> frozenset[str]:
        below = [self._running(c, replaced) for c in self.called(path) if c not in replaced]
        return frozenset({path}).union(*below)


TREE = {"": ["a", "b"], "a": ["a.x", "a.y"], "b": ["b.x"]}


def test_a_root_that_passes_is_the_only_attempt() -> None:
    model = Model(TREE, {})

    assert search(model, "") == ()
    assert model.attempts == [""]


def test_the_deepest_module_is_named_and_passing_ones_are_not_entered() -> None:
    model = Model(TREE, {"a.y": R})

    assert search(model, "") == (Found("a.y", R, How.WHOLE),)
    assert "b.x" not in model.attempts


def test_a_parents_own_line_is_found_beside_its_failing_child() -> None:
    model = Model(TREE, {"a": R, "a.y": R})

    assert search(model, "") == (Found("a.y", R, How.WHOLE), Found("a", R, How.OWN))


def test_a_parents_own_line_is_found_where_all_children_pass() -> None:
    assert search(Model(TREE, {"a": R}), "") == (Found("a", R, How.OWN),)


def test_modules_that_fail_only_together_are_named_together() -> None:
    tree = {"": ["a", "b", "c", "d", "e"]}
    model = Model(tree, {}, [frozenset({"b", "e"})])

    assert search(model, "") == (Found("", R, How.TOGETHER, ("b", "e")),)


def test_what_a_line_of_its_own_does_in_a_called_module_is_its_own_blame() -> None:
    tree = {"": ["a", "b"]}
    model = Model(tree, {}, [frozenset({"", "b"})], lines=[""])

    assert search(model, "") == (Found("", R, How.OWN),)


def test_together_is_found_beside_a_child_that_fails_alone() -> None:
    tree = {"": ["a", "b", "c", "d"]}
    model = Model(tree, {"a": R}, [frozenset({"b", "d"})])

    assert search(model, "") == (
        Found("a", R, How.WHOLE),
        Found("", R, How.TOGETHER, ("b", "d")),
    )


def test_what_cannot_be_judged_is_looked_into_and_is_no_pass() -> None:
    model = Model(TREE, {"b.x": NO})

    assert search(model, "") == (Found("b.x", NO, How.WHOLE),)


def test_own_lines_that_cannot_be_run_apart_leave_the_module_to_blame() -> None:
    class Apart(Model):
        def without(self, path: str, replaced: frozenset[str]) -> Verdict:
            return NO if path and replaced else OK

    assert search(Apart(TREE, {"a": R}), "") == (Found("a", R, How.WHOLE),)


def test_a_line_of_its_own_that_refuses_is_to_blame_beside_a_child_that_cannot_be_replaced() -> (
    None
):
    class Varying(Model):
        def without(self, path: str, replaced: frozenset[str]) -> Verdict:
            return NO if path == "a" else super().without(path, replaced)

    model = {"a": R, "a.y": NO}

    assert search(Varying(TREE, model, lines=["a"]), "") == (
        Found("a.y", NO, How.WHOLE),
        Found("a", R, How.OWN),
    )
    assert search(Varying(TREE, model), "") == (Found("a.y", NO, How.WHOLE),)


def test_what_is_left_out_is_not_to_blame_and_neither_is_what_calls_it() -> None:
    model = Model(TREE, {"a.y": R, "b.x": R}, left_out="a.y")

    assert search(model, "") == (Found("b.x", R, How.WHOLE),)
    assert "a.y" not in model.attempts


def test_what_a_capture_does_not_call_is_not_asked_about() -> None:
    model = Model(TREE, {"": R, "a": R, "b.x": R}, bypassed="a")

    assert search(model, "") == (Found("b.x", R, How.WHOLE), Found("", R, How.OWN))
    assert not any(attempt.startswith("a") for attempt in model.attempts)
    assert search(Model(TREE, {"a.x": R}, bypassed="a"), "a") == (Found("a.x", R, How.WHOLE),)


def test_own_lines_are_found_beside_what_is_left_out() -> None:
    model = Model(TREE, {"a": R, "a.y": R}, left_out="a.y")

    assert search(model, "") == (Found("a", R, How.OWN),)


def test_first_only_stops_at_the_first() -> None:
    model = Model(TREE, {"a.x": R, "b.x": R})

    assert search(model, "", first_only=True) == (Found("a.x", R, How.WHOLE),)
    assert "b.x" not in model.attempts


@given(st.lists(st.integers(0, 20), unique=True, min_size=1), st.data())
def test_smallest_is_the_set_that_fails(parts: list[int], data: st.DataObject) -> None:
    names = [str(part) for part in parts]
    needed = set(data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True)))

    assert set(smallest(names, lambda kept: needed <= set(kept))) == needed
