"""Errors that are meant for the user say a sentence in the user's language."""

import pytest

from specdemo.errors import (
    Cancelled,
    CapacityError,
    FetchError,
    PairError,
    PromptError,
    SettingError,
    SpecdemoError,
    TraceError,
    UserError,
    sentences,
)


def test_the_tree() -> None:
    kinds = {CapacityError, FetchError, PairError, PromptError, SettingError, TraceError}
    assert kinds <= {*UserError.__subclasses__()}
    assert issubclass(UserError, SpecdemoError)
    assert issubclass(Cancelled, SpecdemoError)
    assert not issubclass(Cancelled, UserError)


def test_a_user_error_says_what_is_wrong_and_what_to_do() -> None:
    error = SettingError("out_of_range", name="gamma", value=99, low=0, high=32)
    assert (error.key, error.params["value"]) == ("out_of_range", 99)
    assert str(error) == error.say("en") == "gamma must be between 0 and 32, but it is 99."


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_language_names_the_parameters(language: str) -> None:
    said = PromptError("prompt_too_long", tokens=9000, limit=8192).say(language)
    assert "9000" in said
    assert "8192" in said


def test_languages_differ() -> None:
    error = SettingError("empty_stop")
    assert error.say("en") != error.say("zh")


def test_braces_in_a_value_are_text() -> None:
    """What the user typed is filled in, never read as a format."""
    assert "{name} {0} {" in SettingError("not_a_number", name="gamma", value="{name} {0} {").say()


def test_an_unknown_key_is_a_bug_of_ours() -> None:
    with pytest.raises(KeyError):
        UserError("no_such_sentence").say()
    with pytest.raises(KeyError):
        SettingError("out_of_range", name="gamma").say()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_sentences_are_a_flat_table_of_text(language: str) -> None:
    table = sentences(language)
    assert all(isinstance(text, str) for text in table.values())
    assert all(text.strip() == text != "" for key, text in table.items() if key.startswith("error."))
