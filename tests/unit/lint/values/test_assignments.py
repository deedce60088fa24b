"""Names and what statements bind them to."""

from __future__ import annotations

from pathlib import Path

from tests.unit.lint.probe import kinds


def test_an_assignment_passes_the_kind_on(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor):
            a = b = x.cpu()
            a  #: host tensor
            b  #: host tensor
            a = x
            a  #: device tensor
            c: Tensor = unknown()
            c  #: device tensor
            c  # no mark, no question
            d = unknown()
            d  #: unknown
            3  #: host value, = 3
        """,
    )

    assert told.seen == told.wanted


def test_unpacking_goes_by_position_where_items_are_known(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, n: int):
            a, b = x, n
            a  #: device tensor
            b  #: host value
            a, b = b, a
            a  #: host value
            (c, (d, e)) = x.shape, (x.cpu(), 1)
            c  #: shape-like
            d  #: host tensor
            e  #: host value, = 1
            first, *rest = [x, x.cpu()]
            first  #: unknown
            for one in rest:
                one  #: unknown
            first, *rest = x, x
            for one in rest:
                one  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_unpacking_a_shape_tells_the_rank(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor):
            batch, length = x.shape
            batch  #: shape-like, rank 0
            x  #: device tensor, rank 2
            batch * length  #: shape-like
            batch + 1.5  #: host value
        """,
    )

    assert told.seen == told.wanted


def test_augmented_assignment_keeps_the_tensor_where_it_is(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, n: int):
            n += 1
            n  #: host value
            n += x
            n  #: device tensor
            y = x.long()
            y += 1
            y  #: device tensor, int
        """,
    )

    assert told.seen == told.wanted


def test_a_walrus_binds_its_name(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor):
            print(y := x.cpu())
            y  #: host tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_name_that_both_arms_bind_is_what_they_agree_on(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, n: int):
            if n:
                a, b, c = x, x, x
            else:
                a, b, c = x + 1, 1, None
            a  #: device tensor
            b  #: device tensor, mixed
            c  #: device tensor, optional
        """,
    )

    assert told.seen == told.wanted


def test_a_loop_settles_on_what_holds_in_every_round(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, n: int):
            y = 0
            for i in range(n):
                i  #: shape-like
                y = y + x
            y + x  #: device tensor
            while n:
                z = x
                n -= 1
            z  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_loop_over_a_tensor_gives_tensors_of_a_lower_rank(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor):
            a, b = x.shape
            for row in x:
                row  #: device tensor, rank 1
            for place, row in enumerate(x):
                place  #: host value
                row  #: device tensor, rank 1
            for left, right in zip(x, [1, 2]):
                left  #: device tensor, rank 1
                right  #: host value
        """,
    )

    assert told.seen == told.wanted


def test_a_loop_over_a_dict_gives_keys(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor):
            parts = {"left": x, "right": x}
            for key in parts:
                key  #: host value
            for key, part in parts.items():
                key  #: host value
                part  #: device tensor
            for part in parts.values():
                part  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_loop_over_nothing_never_runs(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor):
            for one in []:
                x  #: never runs
            for one in ():
                pass
            else:
                x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_comprehension_binds_its_target_inside_only(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, n: int):
            parts = [n * part for part in x.split(2)]
            parts[0]  #: device tensor
            n  #: host value
            part  #: unknown
            {key: n for key in range(3)}["a"]  #: host value
            next(row for row in x)  #: device tensor
            sum(row for row in x)  #: device tensor
            [i for i in range(3)][0]  #: shape-like
        """,
    )

    assert told.seen == told.wanted


def test_a_handler_of_exceptions_never_runs_in_a_capture(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor):
            try:
                y = x  #
                y  #: device tensor
            except ValueError as error:
                x  #: never runs
                y = 1
            else:
                x  #: device tensor
            finally:
                x  #: device tensor
            raise ValueError(f"{x}")
            x  #: never runs
        """,
    )

    assert told.seen == told.wanted


def test_nothing_runs_after_control_has_left(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, n: int):
            for i in range(n):
                continue
                x  #: never runs
            while n:
                break
                x  #: never runs
            if n:
                return x
            else:
                return 1
            x  #: never runs
        """,
    )

    assert told.seen == told.wanted


def test_a_deleted_name_is_unknown(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor):
            y = x
            del y
            y  #: unknown
            x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_each_case_of_a_match_may_run(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, n: int):
            match n:
                case 1:
                    y = x
                    x  #: device tensor
                case [a, *b] if a:
                    a  #: unknown
                    y = x
                case _:
                    y = x
                    x  #: device tensor
            y  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_context_manager_leaves_names_alone(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor):
            with torch.no_grad(), open("f") as file:
                y = x.cpu()
            y  #: host tensor
            x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_module_level_names_are_known(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        WIDTH = 8
        NAMES = ["a", "b"]
        often = 1
        often = 2
        EPSILON = torch.tensor(1e-6)

        def step(x: Tensor):
            WIDTH  #: host value, = 8
            NAMES[0]  #: host value
            often  #: unknown
            EPSILON  #: host tensor
            torch.float32  #: host value
            int  #: host value
            nowhere  #: unknown
        """,
    )

    assert told.seen == told.wanted
