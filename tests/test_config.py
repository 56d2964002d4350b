"""Settings are checked when they are made, and survive the way through a URL."""

import math
from dataclasses import FrozenInstanceError, fields
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdemo.config import (
    DTYPES,
    MAX_GAMMA,
    MAX_NEW_TOKENS,
    POLICIES,
    RULES,
    RunConfig,
    SamplingConfig,
    one_of,
    real,
    whole,
)
from specdemo.errors import SettingError

NOT_NUMBERS = [None, True, "abc", "", math.nan, math.inf, "nan", "inf", [4], 10**400]


def refusal(**setting: object) -> SettingError:
    """The error that this one setting of a run raises."""
    with pytest.raises(SettingError) as refused:
        RunConfig(**setting)
    return refused.value


# --- single values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [4, 4.0, "4", "4.0", " 4 "])
def test_whole_numbers_in_every_spelling(value: object) -> None:
    gamma = RunConfig(gamma=value).gamma
    assert (gamma, type(gamma)) == (4, int)


@pytest.mark.parametrize("name", ["gamma", "seed", "max_new_tokens", "min_new_tokens", "confidence"])
@pytest.mark.parametrize("value", NOT_NUMBERS, ids=lambda value: f"{value!r:.9}")
def test_what_is_no_number_is_refused_by_name(name: str, value: object) -> None:
    error = refusal(**{name: value})
    assert (error.key, error.params["name"]) == ("not_a_number", name)
    assert name in str(error)


@pytest.mark.parametrize("name", ["gamma", "seed", "max_new_tokens", "min_new_tokens"])
@pytest.mark.parametrize("value", [3.5, "3.5", 1e-9])
def test_fractions_are_refused_where_whole_numbers_are_due(name: str, value: object) -> None:
    error = refusal(**{name: value})
    assert error.params["name"] == name
    assert error.key == "not_whole" or (name, value) == ("max_new_tokens", 1e-9)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gamma", -1),
        ("gamma", MAX_GAMMA + 1),
        ("gamma", 99),
        ("max_new_tokens", 0),
        ("max_new_tokens", -1),
        ("max_new_tokens", 10**13),
        ("min_new_tokens", -1),
        ("seed", -1),
        ("seed", 2**53 + 2),
        ("confidence", -0.1),
        ("confidence", 1.1),
    ],
)
def test_what_is_out_of_range_is_refused_by_name_with_the_range(name: str, value: float) -> None:
    error = refusal(**{name: value})
    assert (error.key, error.params["name"]) == ("out_of_range", name)
    assert str(error.params["low"]) in str(error)
    assert str(error.params["high"]) in str(error)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("gamma", [0, 1, MAX_GAMMA]),
        ("max_new_tokens", [1, MAX_NEW_TOKENS]),
        ("seed", [0, 2**53]),
        ("confidence", [0, 1, 0.5]),
    ],
)
def test_the_ends_of_the_ranges_are_good(name: str, values: list[float]) -> None:
    assert [getattr(RunConfig(**{name: value}), name) for value in values] == values


@pytest.mark.parametrize(("name", "value"), [("policy", "magic"), ("dtype", "int3"), ("rule", "magic"), ("rule", "")])
def test_choices(name: str, value: object) -> None:
    error = refusal(**{name: value})
    assert (error.key, error.params["name"]) == ("not_a_choice", name)
    assert all(choice in str(error) for choice in {"policy": POLICIES, "dtype": DTYPES, "rule": RULES}[name])


def test_limits_that_contradict_each_other() -> None:
    assert RunConfig(min_new_tokens=5, max_new_tokens=5).min_new_tokens == 5
    assert refusal(min_new_tokens=6, max_new_tokens=5).key == "min_over_max"


def test_an_empty_stop_string_would_stop_at_once() -> None:
    assert refusal(stop=("END", "")).key == "empty_stop"


def test_helpers_return_plain_numbers() -> None:
    assert type(whole("n", 3.0, 0, 9)) is int
    assert type(real("x", 3, 0, 9)) is float
    assert one_of("a", "b", ("b", "c")) == "b"


# --- sampling -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [0, 0.0, None, "0", 1e-8, 1e-6, 1e-5, 9.99e-5])
def test_every_spelling_of_greedy(temperature: object) -> None:
    assert SamplingConfig(temperature=temperature).greedy


@pytest.mark.parametrize("temperature", [1e-4, 1e-3, 0.7, 1, 5, "0.7"])
def test_other_temperatures_sample(temperature: object) -> None:
    assert not SamplingConfig(temperature=temperature).greedy


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("temperature", value) for value in (-1, -1e-9, 5.01, math.nan, math.inf, -math.inf, "warm", True, [])],
        *[("top_k", value) for value in (-1, 2.5, math.nan, "many", False)],
        *[("top_p", value) for value in (-0.1, 1.1, math.nan, "most", True)],
    ],
    ids=str,
)
def test_sampling_settings_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(SettingError, match=name):
        SamplingConfig(**{name: value})


def test_top_p_of_nothing_is_refused() -> None:
    with pytest.raises(SettingError) as refused:
        SamplingConfig(top_p=0)
    assert refused.value.key == "top_p_zero"


def test_none_turns_a_filter_off() -> None:
    assert SamplingConfig(None, None, None) == SamplingConfig() == SamplingConfig(0.0, 0, 1.0)


def test_settings_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        RunConfig().gamma = 5
    with pytest.raises(FrozenInstanceError):
        SamplingConfig().top_k = 5


# --- the URL --------------------------------------------------------------------------------------------------------

TEXT = st.text(max_size=20)
SAMPLING = st.builds(
    SamplingConfig,
    temperature=st.floats(0, 5),
    top_k=st.integers(0, 10**9),
    top_p=st.floats(0, 1, exclude_min=True),
)
RUNS = st.builds(
    RunConfig,
    prompt=TEXT,
    pair=TEXT,
    drafter=TEXT,
    gamma=st.integers(0, MAX_GAMMA),
    policy=st.sampled_from(POLICIES),
    confidence=st.floats(0, 1),
    sampling=SAMPLING,
    seed=st.integers(0, 2**53),
    max_new_tokens=st.integers(1000, MAX_NEW_TOKENS),
    min_new_tokens=st.integers(0, 1000),
    stop=st.lists(st.text(min_size=1, max_size=8), max_size=3).map(tuple),
    raw=st.booleans(),
    dtype=st.sampled_from(DTYPES),
    knobs=st.dictionaries(TEXT, TEXT, max_size=3).map(lambda knobs: tuple(knobs.items())),
    rule=st.sampled_from(RULES),
)


@settings(max_examples=80, deadline=None, derandomize=True, database=None)
@given(RUNS)
def test_a_run_survives_the_url(config: RunConfig) -> None:
    assert RunConfig.from_query(config.to_query()) == config


def test_the_url_says_only_what_was_changed() -> None:
    assert RunConfig().to_query() == ""
    config = RunConfig(gamma=6, sampling=SamplingConfig(temperature=0.7), raw=True, stop=("a&b", "c"))
    assert parse_qsl(config.to_query()) == [
        ("gamma", "6"),
        ("raw", "1"),
        ("temperature", "0.7"),
        ("stop", "a&b"),
        ("stop", "c"),
    ]


def test_every_setting_has_a_place_in_the_url() -> None:
    """A field added later must not be forgotten: names in the URL are those of the fields."""
    names = {f.name for f in fields(RunConfig)} - {"sampling", "knobs"} | {f.name for f in fields(SamplingConfig)}
    changed = RunConfig(
        "Hi",
        "a,b",
        "other",
        5,
        "heuristic",
        0.5,
        SamplingConfig(1.0, 5, 0.5),
        1,
        90,
        1,
        ("x",),
        True,
        "float32",
        (("k", "v"),),
        "block",
        True,
    )
    assert {name for name, _ in parse_qsl(changed.to_query())} == names | {"knob.k"}


def test_foreign_names_in_the_url_are_left_to_the_page() -> None:
    assert RunConfig.from_query("view=present&gamma=6&raw=0&__theme=dark") == RunConfig(gamma=6)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("gamma=many", "gamma"),
        ("gamma=3.5", "gamma"),
        ("gamma=99", "gamma"),
        ("gamma=", "gamma"),
        ("temperature=nan", "temperature"),
        ("policy=x", "policy"),
        ("rule=x", "rule"),
        ("seed=-1", "seed"),
        ("max_new_tokens=0", "max_new_tokens"),
    ],
)
def test_bad_values_in_the_url_are_refused_by_name(query: str, name: str) -> None:
    with pytest.raises(SettingError, match=name):
        RunConfig.from_query(query)


def test_knobs_are_replaced_by_name() -> None:
    config = RunConfig().with_knob("min_n", 2).with_knob("max_n", 5).with_knob("min_n", 3)
    assert config.knobs == (("max_n", "5"), ("min_n", "3"))
