"""Which event may follow which: whole runs pass, and every way to cut, move or contradict is refused."""

from dataclasses import replace
from typing import Any

import pytest
from streams import run, two_lanes

from specdemo.codec import Misfit
from specdemo.core.events import Drafted, Event, Inspected, Judged, Prefilled, RoundFinished, RunFinished, RunStarted
from specdemo.grammar import Grammar
from specdemo.wire import NAMES


def check(events: list[Event]) -> None:
    grammar = Grammar()
    for event in events:
        grammar.check(event, NAMES[type(event)])


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("gamma", [0, 1, 4])
def test_what_the_engine_says_is_grammatical(gamma: int, temperature: float) -> None:
    for seed in range(3):
        check(two_lanes(seed, gamma, temperature))


def test_a_run_may_break_off_anywhere() -> None:
    events = run()
    for length in range(len(events)):
        check(events[:length])


def test_laws_may_come_later_but_once_and_before_the_end() -> None:
    events = run()
    laws = [event for event in events if isinstance(event, Inspected)]
    others = [event for event in events if not isinstance(event, Inspected)]
    check([*others[:-1], *laws, others[-1]])
    for late in ([*others[:-1], *laws, laws[0]], [*others, *laws]):
        with pytest.raises(Misfit):
            check(late)


def test_dropping_one_event_is_noticed_unless_it_is_optional() -> None:
    events = run()
    for i, event in enumerate(events[:-1]):
        rest = events[:i] + events[i + 1 :]
        if isinstance(event, Inspected | Prefilled):
            check(rest)
        else:
            with pytest.raises(Misfit):
                check(rest)


def test_saying_an_event_twice_is_noticed() -> None:
    events = run()
    for i, event in enumerate(events):
        if not isinstance(event, Prefilled):
            with pytest.raises(Misfit):
                check([*events[: i + 1], *events[i:]])


def test_nothing_of_a_lane_comes_after_its_end() -> None:
    events = run()
    for event in events:
        with pytest.raises(Misfit) as refused:
            check([*events, event])
        assert refused.value.key == "trace_order"


def test_a_lane_that_never_started_says_nothing() -> None:
    other = run(lane="other")[0]
    for event in run()[1:]:
        with pytest.raises(Misfit):
            check([other, event])


def changed(kind: type, **fields: Any) -> list[Event]:
    """A good run whose first event of a kind has other values."""
    events = run()
    i = next(i for i, event in enumerate(events) if isinstance(event, kind))
    events[i] = replace(events[i], **fields)
    return events


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (RunStarted, {"lane": "other"}),
        (Drafted, {"round": 2}),
        (Drafted, {"round": 0}),
        (Drafted, {"tokens": ()}),
        (Judged, {"round": 2}),
        (Judged, {"emitted": ()}),
        (Judged, {"pieces": ("a",) * 9}),
        (Judged, {"fates": ()}),
        (Inspected, {"round": 2}),
        (Inspected, {"round": 0}),
        (RoundFinished, {"round": 2}),
        (RoundFinished, {"clock_s": 1e6}),
        (RoundFinished, {"clock_s": -1.0}),
    ],
)
def test_an_event_that_contradicts_its_round_is_refused(kind: type, fields: dict[str, Any]) -> None:
    with pytest.raises(Misfit) as refused:
        check(changed(kind, **fields))
    assert refused.value.key == "trace_order"


def first(kind: type) -> Any:
    return next(event for event in run() if isinstance(event, kind))


@pytest.mark.parametrize("name", ["u", "p", "q"])
@pytest.mark.parametrize("chance", [-0.1, 1.1])
def test_a_probability_beyond_zero_and_one_is_refused_in_a_test(name: str, chance: float) -> None:
    tests = (replace(first(Judged).tests[0], **{name: chance}),)
    with pytest.raises(Misfit) as refused:
        check(changed(Judged, tests=tests))
    assert refused.value.params == {"field": "judged.tests"}


@pytest.mark.parametrize(
    "fields",
    [{"beta": 1.1}, {"beta": -0.1}, {"p_top": ((1, 2.0),)}, {"q_top": ((1, 2.0),)}, {"residual_top": ((1, -0.5),)}],
)
def test_a_probability_beyond_zero_and_one_is_refused_in_a_law(fields: dict[str, Any]) -> None:
    positions = (replace(first(Inspected).positions[0], **fields),)
    with pytest.raises(Misfit) as refused:
        check(changed(Inspected, positions=positions))
    assert refused.value.params == {"field": "inspected.positions"}


def test_a_rule_that_is_in_no_registry_is_refused() -> None:
    check(changed(RunStarted, rule="block"))
    with pytest.raises(Misfit) as refused:
        check(changed(RunStarted, rule="magic"))
    assert refused.value.params == {"field": "run_started.rule"}


@pytest.mark.parametrize("kind", [RunStarted, Drafted])
def test_a_round_longer_than_any_is_refused(kind: type[RunStarted] | type[Drafted]) -> None:
    with pytest.raises(Misfit) as refused:
        check(changed(kind, gamma=5 * 10**9))
    assert str(refused.value.params["field"]).endswith(".gamma")


@pytest.mark.parametrize("h", [-0.1, 1.1])
def test_a_threshold_beyond_zero_and_one_is_refused(h: float) -> None:
    tests = (replace(first(Judged).tests[0], h=h),)
    with pytest.raises(Misfit):
        check(changed(Judged, tests=tests))


def test_float32_sums_may_end_a_little_over_one() -> None:
    check(changed(Inspected, positions=(replace(first(Inspected).positions[0], beta=1.000004),)))


def test_laws_of_a_position_beyond_the_draft_are_refused() -> None:
    with pytest.raises(Misfit):
        check(changed(Inspected, positions=(replace(first(Inspected).positions[0], index=4),)))


def test_the_end_of_one_lane_is_not_the_end_of_another() -> None:
    events = run(lane="a") + run(lane="b")
    check(events)
    assert sum(isinstance(event, RunFinished) for event in events) == 2
