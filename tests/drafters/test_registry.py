"""The list of drafters, and what becomes of settings that make no sense."""

import subprocess
import sys

import pytest
from toy_lanes import GREEDY, Knobs, toy

from specdemo import drafters
from specdemo.core.sampling import Shaping
from specdemo.errors import PairError, SettingError

IDS = (
    "prompt-lookup", "ngram", "model", "tiny-model", "feature-head", "hybrid", "quantised", "layer-skip",
    "oracle", "dial-alpha", "random",
)  # fmt: skip


def build(id: str, knobs: Knobs, confidence: float = 0.0) -> object:
    return drafters.build(id, toy(), Shaping(GREEDY), knobs, confidence)


def test_ids() -> None:
    assert drafters.ids() == IDS
    assert {entry.id for entry in drafters.entries() if entry.control} == {"oracle", "dial-alpha", "random"}


@pytest.mark.parametrize("entry", drafters.entries(), ids=drafters.ids())
def test_entries_are_fit_for_a_menu(entry: drafters.Entry) -> None:
    assert entry.label
    assert "\n" not in entry.summary
    assert entry.control == entry.summary.startswith("Control")
    for knob in entry.knobs:
        assert knob.help
        assert knob.parse(knob.default) == knob.default
        assert knob.parse(str(knob.default)) == knob.default


def test_listing_imports_no_drafter() -> None:
    code = (
        "import sys; from specdemo import drafters; assert drafters.ids() and drafters.entries();"
        "print([m for m in sys.modules if m.startswith('specdemo.drafters.') and not m.endswith('.registry')])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_unknown_id_is_refused_with_the_ids() -> None:
    with pytest.raises(SettingError) as refused:
        build("medusa", {})
    assert all(id in str(refused.value) for id in IDS)


@pytest.mark.parametrize(("id", "known"), [("prompt-lookup", "max_n, min_n, min_draft"), ("random", "none")])
def test_unknown_knob_is_refused_with_the_knobs(id: str, known: str) -> None:
    with pytest.raises(SettingError) as refused:
        build(id, {"width": 3})
    assert "width" in str(refused.value)
    assert known in str(refused.value)


@pytest.mark.parametrize(
    ("id", "name", "value"),
    [
        ("prompt-lookup", "max_n", 0),
        ("prompt-lookup", "min_n", -1),
        ("prompt-lookup", "min_n", 2.5),
        ("prompt-lookup", "min_draft", "many"),
        ("layer-skip", "layers", 0),
        ("quantised", "scheme", "fp2"),
        ("model", "mode", "greedy"),
        ("dial-alpha", "alpha", 1.5),
        ("dial-alpha", "alpha", "nan"),
    ],
)
def test_bad_values_are_refused_by_name(id: str, name: str, value: str | float) -> None:
    with pytest.raises(SettingError, match=name):
        build(id, {name: value})


def test_text_and_whole_floats_are_numbers() -> None:
    build("prompt-lookup", {"max_n": "4.0", "min_n": 2.0})


def test_bad_confidence_is_refused() -> None:
    with pytest.raises(SettingError, match="confidence"):
        build("model", {}, confidence=1.5)


def test_the_pairs_own_refusal_comes_through() -> None:
    class NoDraft:
        vocabulary, name = 24, "alone"

        def draft(self) -> None:
            raise PairError("no_draft")

    with pytest.raises(PairError):
        drafters.build("model", NoDraft(), Shaping(GREEDY), {})
