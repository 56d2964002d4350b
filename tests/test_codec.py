"""Dataclasses to JSON values and back: every event type with any values; strict about all else."""

import dataclasses
import json
from enum import Enum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdemo.codec import LARGEST, Misfit, plain, typed
from specdemo.config import RunConfig
from specdemo.core.events import Event, Position, Prefilled, RoundFinished
from specdemo.core.metrics import Round
from specdemo.core.verify import Fate, Test

FLOATS = st.floats(allow_nan=False, allow_infinity=False)

PREFILLED = {"lane": "a", "tokens": 3, "target_s": 0.5, "draft_s": 0}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Any value of a type, built from its hints."""
    args = get_args(hint)
    if dataclasses.is_dataclass(hint):
        return st.builds(hint, **{name: values(item) for name, item in get_type_hints(hint).items()})
    if get_origin(hint) is tuple and args[-1] is Ellipsis:
        return st.lists(values(args[0]), max_size=3).map(tuple)
    if get_origin(hint) is tuple:
        return st.tuples(*map(values, args))
    if get_origin(hint) is UnionType:
        return st.one_of(*map(values, args))
    if issubclass(hint, Enum):
        return st.sampled_from(list(hint))
    return {int: st.integers(0, LARGEST), float: FLOATS, str: st.text(), bool: st.booleans(), NoneType: st.none()}[hint]


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(plain(value), allow_nan=False))


def close(value: Any, other: Any) -> bool:
    """Equal, floats up to the digits written."""
    if dataclasses.is_dataclass(value):
        same = type(value) is type(other)
        return same and all(close(getattr(value, f.name), getattr(other, f.name)) for f in dataclasses.fields(value))
    if isinstance(value, tuple):
        return len(value) == len(other) and all(map(close, value, other))
    if isinstance(value, float):
        return type(other) is float and other == pytest.approx(value, rel=1e-6, abs=0)
    return type(value) is type(other) and value == other


@pytest.mark.parametrize("event_type", get_args(Event))
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_every_event_comes_back_and_writing_it_again_changes_nothing(event_type: type, data: st.DataObject) -> None:
    event = data.draw(values(event_type))
    read = typed(through_json(event), event_type, "event")
    assert close(event, read)
    assert plain(read) == through_json(event)


def test_fields_keep_their_names_and_order_enums_are_strings_and_floats_are_short() -> None:
    counted = Round((Fate.ACCEPTED, Fate.REJECTED), 2, Fate.RESAMPLED, 2, 0, 3, 1 / 3, 2.0, 1e-9)
    assert json.dumps(plain(counted)) == (
        '{"fates": ["accepted", "rejected"], "emitted": 2, "last": "resampled", "steps": 2, "skipped": 0, '
        '"width": 3, "draft_s": 0.3333333, "verify_s": 2, "overhead_s": 1e-09}'
    )
    row = Position(0, ((7, 0.75),), None, None, None, 0.5, None, 1.0)
    assert plain(row)["p_top"] == [[7, 0.75]]


def test_a_law_is_written_with_fewer_digits_when_asked() -> None:
    assert plain(((7, 0.123456789),), digits=4) == [[7, 0.1235]]


@settings(deadline=None)
@given(FLOATS, st.integers(1, 15))
def test_rounding_twice_changes_nothing(number: float, digits: int) -> None:
    once = plain(number, digits)
    assert plain(float(once), digits) == once


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"tokens": True}, "x.tokens"),
        ({"tokens": 3.0}, "x.tokens"),
        ({"tokens": "3"}, "x.tokens"),
        ({"tokens": -1}, "x.tokens"),
        ({"tokens": LARGEST + 1}, "x.tokens"),
        ({"tokens": None}, "x.tokens"),
        ({"tokens": [3]}, "x.tokens"),
        ({"target_s": "0.5"}, "x.target_s"),
        ({"target_s": False}, "x.target_s"),
        ({"target_s": float("inf")}, "x.target_s"),
        ({"target_s": float("nan")}, "x.target_s"),
        ({"target_s": 10**400}, "x.target_s"),
        ({"lane": 3}, "x.lane"),
        ({"lane": {}}, "x.lane"),
        ({"more": 1}, "x"),
    ],
)
def test_a_value_that_does_not_fit_is_named(change: dict[str, Any], field: str) -> None:
    with pytest.raises(Misfit) as refused:
        typed(PREFILLED | change, Prefilled, "x")
    assert refused.value.params == {"field": field}


@pytest.mark.parametrize("name", PREFILLED)
def test_a_missing_field_is_named(name: str) -> None:
    with pytest.raises(Misfit) as refused:
        typed({n: v for n, v in PREFILLED.items() if n != name}, Prefilled, "x")
    assert refused.value.params == {"field": f"x.{name}"}


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("lost", Fate),
        (["accepted"], Fate),
        (None, Fate),
        ({"u": 0.5, "p": 1, "q": 1, "accepted": 1}, Test),
        ([1, 2, 3], tuple[int, int]),
        ([[1]], tuple[tuple[int, float], ...]),
        ("12", tuple[str, ...]),
        ({"a": []}, dict[str, str | int | None]),
        ([], RoundFinished),
        (0, bool),
    ],
)
def test_nested_values_are_as_strict(value: Any, hint: Any) -> None:
    with pytest.raises(Misfit):
        typed(value, hint, "x")


def test_a_whole_number_is_a_float_and_stays_one() -> None:
    read = typed(PREFILLED, Prefilled, "x")
    assert type(read.draft_s) is float


def test_only_a_field_with_a_default_may_be_missing() -> None:
    """So that a trace stays readable when a run gets a new setting."""
    assert typed({"gamma": 7}, RunConfig, "x") == RunConfig(gamma=7)


def test_a_type_that_json_has_no_value_for_is_a_mistake_of_the_programmer() -> None:
    with pytest.raises(TypeError):
        typed(b"", bytes, "x")
