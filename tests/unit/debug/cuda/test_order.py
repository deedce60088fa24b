"""Which streams would be part of a capture, told from events that are recorded and waited for."""

from __future__ import annotations

from dataclasses import dataclass

from capturelint.debug.cuda.order import Order
from capturelint.verdict import Place

BASE, SIDE, OTHER = 7, 8, 9
LINE = (Place("/model.py", 3),)


@dataclass(eq=False)
class Event:
    """`cuda_event`: 0 until it was recorded, as torch has it."""

    cuda_event: int = 0


def _forked(order: Order, stream: int = SIDE) -> None:
    event = Event()
    order.records(event, BASE)
    assert order.waits(event, stream)


def test_a_stream_joins_by_waiting_for_one_that_has() -> None:
    order = Order(BASE)
    _forked(order)

    assert [order.is_joined(one) for one in (BASE, SIDE, OTHER)] == [True, True, False]


def test_work_that_nothing_waits_for_is_unjoined() -> None:
    order = Order(BASE)
    _forked(order)
    before = order.unjoined()
    order.works(SIDE, LINE)

    assert (before, order.unjoined()) == (None, LINE)


def test_work_that_the_first_stream_waits_for_is_joined() -> None:
    order = Order(BASE)
    _forked(order)
    order.works(SIDE, LINE)
    done = Event()
    order.records(done, SIDE)

    assert order.waits(done, BASE)
    assert order.unjoined() is None


def test_work_after_the_event_that_was_waited_for_is_unjoined() -> None:
    order = Order(BASE)
    _forked(order)
    done = Event()
    order.records(done, SIDE)
    order.works(SIDE, LINE)
    order.waits(done, BASE)

    assert order.unjoined() == LINE


def test_work_is_joined_through_a_third_stream() -> None:
    order = Order(BASE)
    _forked(order)
    order.works(SIDE, LINE)
    first, second = Event(), Event()
    order.records(first, SIDE)
    order.waits(first, OTHER)
    order.records(second, OTHER)
    order.waits(second, BASE)

    assert order.unjoined() is None


def test_a_stream_of_the_capture_may_not_wait_for_work_outside_it() -> None:
    order = Order(BASE)
    inside, before = Event(), Event(cuda_event=1)
    order.records(inside, OTHER)

    assert not order.waits(inside, BASE)
    assert not order.waits(before, BASE)


def test_what_was_never_recorded_or_is_outside_altogether_may_be_waited_for() -> None:
    order = Order(BASE)

    assert order.waits(Event(), BASE)
    assert order.waits(Event(cuda_event=1), OTHER)
    assert not order.is_joined(OTHER)


def test_an_event_is_captured_where_it_was_recorded_on_a_stream_of_the_capture() -> None:
    order = Order(BASE)
    inside, outside = Event(), Event()
    order.records(inside, BASE)
    order.records(outside, OTHER)

    assert [order.is_captured(one) for one in (inside, outside, Event())] == [True, False, False]
