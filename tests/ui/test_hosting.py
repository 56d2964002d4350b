"""Settings from the environment and the command line: each checked, each said once, the table of the docs from them."""

from dataclasses import fields
from pathlib import Path

import pytest

from specdemo.errors import SettingError
from specdemo.ui import hosting
from specdemo.ui.hosting import OPTIONS, Settings, settings, strangers, table

DOCS = Path(__file__).parents[2] / "docs" / "hosting.md"


def test_nothing_given_is_the_defaults() -> None:
    assert settings([], {}) == Settings()
    assert settings([], {option.variable: " " for option in OPTIONS}) == Settings()


def test_the_command_line_goes_before_the_environment() -> None:
    environment = {"SPECDEMO_PORT": "8000", "SPECDEMO_WAITING": "3"}
    chosen = settings(["--port", "9000"], environment)
    assert (chosen.port, chosen.waiting) == (9000, 3)


def test_every_setting_has_a_place_and_a_use() -> None:
    assert {option.field for option in OPTIONS} | {"start"} == {field.name for field in fields(Settings)}
    assert len({option.flag for option in OPTIONS}) == len(OPTIONS)


def test_pairs_are_a_list() -> None:
    assert settings([], {"SPECDEMO_PAIRS": "smollm2-135m; a/b,c/d;"}).pairs == ("smollm2-135m", "a/b,c/d")
    assert settings(["--pair", "x/y", "--pair", "smollm2-135m"], {}).pairs == ("x/y", "smollm2-135m")


@pytest.mark.parametrize(("text", "value"), [("1", True), ("On", True), ("false", False), ("no", False)])
def test_switches(text: str, value: bool) -> None:
    assert settings([], {"SPECDEMO_ANY_PAIR": text}).any_pair is value


BAD = {
    "SPECDEMO_PORT": "0",
    "SPECDEMO_PAIRS": "not a pair!",
    "SPECDEMO_ANY_PAIR": "perhaps",
    "SPECDEMO_DEVICE": "tpu",
    "SPECDEMO_DTYPE": "float8",
    "SPECDEMO_KEEP": "many",
    "SPECDEMO_MAX_NEW_TOKENS": "7",
    "SPECDEMO_MAX_SECONDS": "nan",
    "SPECDEMO_PROMPT_CHARACTERS": "1e9",
    "SPECDEMO_RUNS_AT_ONCE": "1.5",
    "SPECDEMO_RUNS_PER_VISITOR": "0",
    "SPECDEMO_WAITING": "-1",
    "SPECDEMO_MEMORY_MB": "lots",
    "SPECDEMO_VISITORS": "0",
    "SPECDEMO_EMBED": "https://a.b; script-src *",
    "SPECDEMO_LOG": "xml",
    "SPECDEMO_STOP_SECONDS": "-5",
}


@pytest.mark.parametrize(("variable", "text"), BAD.items())
def test_a_value_that_cannot_be_used_is_named(variable: str, text: str) -> None:
    with pytest.raises(SettingError) as refused:
        settings([], {variable: text})
    said = str(refused.value)
    assert text.strip() in said
    assert variable in said or variable == "SPECDEMO_PAIRS"  # a pair is wrong wherever it is named
    option = next(option for option in OPTIONS if option.variable == variable)
    with pytest.raises(SettingError):
        settings([f"{option.flag}={text}"], {})


def test_a_misspelt_variable_is_noticed() -> None:
    known = {"SPECDEMO_PORT": "1", "SPECDEMO_CACHE": "x", "OTHER": ""}
    assert strangers(known | {"SPECDEMO_PROT": "1"}) == ["SPECDEMO_PROT is no setting. Did you mean SPECDEMO_PORT?"]
    assert strangers(known) == []


def test_help_has_every_variable() -> None:
    said = hosting.parser().format_help()
    assert all(option.variable in said for option in OPTIONS)


def test_the_docs_have_the_table_as_it_is() -> None:
    """After a change: python -c 'from specdemo.ui.hosting import table; print(table())'."""
    assert table() in DOCS.read_text(encoding="utf-8")


def test_the_page_keeps_within_small_limits() -> None:
    """Where fewer tokens are allowed than a page begins with, it begins with those."""
    from specdemo.ui.app import _start

    assert _start(Settings(max_new_tokens=32)).max_new_tokens == 32
    assert _start(Settings(max_new_tokens=512)).max_new_tokens == 96
