"""The prompts that a measurement runs: ours, and a visitor's list read strictly."""

import json

import pytest

from specdemo.errors import PromptError, SettingError
from specdemo.measure.evaluation import MOST_CHARACTERS, MOST_PROMPTS, own_prompts, prompts_of
from specdemo.prompts import GROUPS


def texts(listed: str, file: str = "") -> list[str]:
    return [prompt.text for prompt in own_prompts(listed, file)]


def test_our_sets() -> None:
    assert [prompt.group for prompt in prompts_of("few")] == ["copy", "code", "question", "story"]
    assert [prompt.group for prompt in prompts_of("kinds")] == list(GROUPS)
    with pytest.raises(SettingError):
        prompts_of("all")


@pytest.mark.parametrize(
    ("listed", "found"),
    [
        ("one\ntwo\n", ["one", "two"]),
        ("\n\n  one  \ntwo", ["one", "two"]),
        ("one\nmore of one\n\ntwo", ["one\nmore of one", "two"]),
        ("one\r\nmore\r\n  \r\ntwo\r\n\r\n\r\nthree", ["one\nmore", "two", "three"]),
        ("\ufeffone", ["one"]),
        ("一\n二", ["一", "二"]),
    ],
)
def test_one_a_line_or_separated_by_blank_lines(listed: str, found: list[str]) -> None:
    assert texts(listed) == found
    assert texts(listed, "mine.TXT") == found


def test_files_of_records() -> None:
    records = [{"prompt": "a\nb"}, "c", {"text": "d", "group": "chat"}]
    assert texts(json.dumps(records), "x.json") == ["a\nb", "c", "d"]
    assert texts("\n".join(map(json.dumps, records)) + "\n\n", "x.jsonl") == ["a\nb", "c", "d"]


@pytest.mark.parametrize(
    ("listed", "file", "said"),
    [
        ("", "", "no prompt"),
        (" \n \n", "", "no prompt"),
        ("x\n" * (MOST_PROMPTS + 1), "", f"{MOST_PROMPTS + 1} prompts"),
        ("x" * (MOST_CHARACTERS + 1), "", "characters"),
        ("[]", "x.json", "no prompt"),
        ("{", "x.json", "not JSON"),
        ('{"a": 1}', "x.json", "not as expected"),
        ('"a"\n{', "x.jsonl", "line 2"),
        ('"a"\n{"prompt": 3}', "x.jsonl", "entry 2"),
        ("9" * 5000, "x.jsonl", "entry 1"),
        ("[" * 100_000, "x.jsonl", "entry 1"),
        (json.dumps(["x"] * (MOST_PROMPTS + 1)), "x.json", f"at most {MOST_PROMPTS}"),
        ("x", "x.exe", "must end in"),
        ("x", "json", "must end in"),
    ],
)
def test_what_cannot_be_used_is_named(listed: str, file: str, said: str) -> None:
    with pytest.raises(PromptError, match=said):
        own_prompts(listed, file)
