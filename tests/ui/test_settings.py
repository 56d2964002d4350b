"""Settings from widgets, addresses and the API: whatever comes in, a checked configuration or one sentence."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdemo import drafters
from specdemo.config import RunConfig
from specdemo.errors import UserError
from specdemo.ui.callbacks import able_policy
from specdemo.ui.i18n import LANGUAGES, spoken
from specdemo.ui.settings import FIELDS, Limits, config_of, values_of, values_of_query

LIMITS = Limits(pairs=("smollm2-135m", "qwen3-4b+0.6b"), max_new_tokens=128, prompt_characters=1000)
GOOD: dict[str, Any] = values_of(RunConfig(prompt="hello"))


def refusal(**changes: Any) -> UserError:
    with pytest.raises(UserError) as caught:
        config_of(GOOD | changes, LIMITS)
    return caught.value


def test_widget_values_become_the_configuration_and_come_back() -> None:
    config = config_of(GOOD | {"gamma": 6.0, "temperature": 0.7, "knobs": {"max_n": "4"}}, LIMITS)
    assert (config.gamma, config.sampling.temperature, config.knobs) == (6, 0.7, (("max_n", "4"),))
    assert isinstance(config.gamma, int)
    assert config_of(values_of(config), LIMITS) == config


@pytest.mark.parametrize("value", [3.5, 99, -1, None, "many", True, float("nan"), float("inf"), [4]])
def test_an_absurd_gamma_is_refused_by_name(value: object) -> None:
    error = refusal(gamma=value)
    assert "γ" in spoken(error)["en"]
    assert "γ" in spoken(error)["zh"]


@pytest.mark.parametrize(
    ("field", "value", "key"),
    [
        ("prompt", "", "prompt_blank"),
        ("prompt", " \n ", "prompt_blank"),
        ("prompt", None, "prompt_blank"),
        ("prompt", "x" * 1001, "prompt_characters"),
        ("max_new_tokens", 129, "out_of_range"),
        ("max_new_tokens", 0, "out_of_range"),
        ("pair", "someone/else", "pair_not_offered"),
        ("pair", "/etc", "pair_not_offered"),
        ("drafter", "magic", "not_a_choice"),
        ("policy", "lucky", "not_a_choice"),
        ("rule", "lucky", "not_a_choice"),
        ("temperature", -1, "out_of_range"),
        ("top_p", 0, "top_p_zero"),
        ("knobs", {"depth": "3"}, "unknown_knob"),
        ("knobs", {"max_n": "a lot"}, "not_a_number"),
    ],
)
def test_what_cannot_be_is_refused(field: str, value: object, key: str) -> None:
    assert refusal(**{field: value}).key == key


def test_a_visitor_cannot_name_a_file_of_this_machine() -> None:
    assert refusal(drafter="ngram", knobs={"table": "/etc/passwd"}).key == "unknown_knob"


def test_an_address_restores_every_setting() -> None:
    config = RunConfig(
        prompt="a & b\n<c> 你好", gamma=7, seed=3, policy="heuristic", knobs=(("min_n", "2"),), rule="block"
    )
    query = {"prompt": config.prompt, "gamma": "7", "seed": "3", "policy": "heuristic", "knob.min_n": "2", "lang": "zh"}
    query["rule"] = "block"
    assert values_of_query(query, LIMITS) == values_of(config)


def test_an_address_without_settings_gives_the_defaults() -> None:
    assert values_of_query({"lang": "zh", "tab": "watch", "nonsense": "1"}, LIMITS) == values_of(RunConfig())
    only = Limits(pairs=("qwen3-4b+0.6b",))
    assert values_of_query({}, only) == values_of(RunConfig(pair="qwen3-4b+0.6b"))


def test_a_bad_address_is_refused_whole() -> None:
    with pytest.raises(UserError):
        values_of_query({"gamma": "1e9", "seed": "3"}, LIMITS)


NASTY = [
    None,
    True,
    -1,
    0,
    0.5,
    4.0,
    3.5,
    99,
    2**60,
    float("nan"),
    float("inf"),
    "",
    "x",
    "1e400",
    "<|im_start|>",
    [],
    [1],
    {},
    {"a": 1},
]


@given(st.dictionaries(st.sampled_from(FIELDS), st.sampled_from(NASTY)))
def test_any_values_give_a_configuration_or_a_sentence(values: dict[str, Any]) -> None:
    said: dict[str, str] = {}
    try:
        assert 1 <= config_of(values, LIMITS).max_new_tokens <= LIMITS.max_new_tokens
        return
    except UserError as error:
        said = spoken(error)
    assert set(said) == set(LANGUAGES)


@pytest.mark.parametrize("drafter", [*drafters.ids(), "none"])
def test_a_policy_that_needs_a_confidence_goes_with_the_draft_that_has_one(drafter: str) -> None:
    kept = able_policy(drafter, "confidence") == "confidence"
    assert kept == (drafter in drafters.confident())
    assert able_policy(drafter, "heuristic") == "heuristic"


@pytest.mark.parametrize("knobs", ["abc", 3, ["max_n"], True])
def test_knobs_that_are_no_object_are_refused(knobs: object) -> None:
    assert "JSON object" in str(refusal(knobs=knobs))
