"""The lessons' data: both languages alike, every run, prompt, rule and setting there, no figure written by hand."""

import json
import re
import shutil
from pathlib import Path

import pytest

from specdemo.core import rules
from specdemo.ui.replays import Library
from specdemo.ui.settings import Limits, config_of
from specdemo.ui.tabs.lessons import values_of_try
from specdemo.ui.tabs.watch import defaults
from specdemo.web import lessons

DATA = lessons.data()
ENTRIES = {entry["id"]: entry for entry in DATA["entries"]}
TRIES = [(id, one) for id, entry in ENTRIES.items() for one in entry.get("try", ())]


def test_there_are_nine_lessons_ten_bugs_and_three_claims() -> None:
    kinds = [entry["kind"] for entry in ENTRIES.values()]
    assert [kinds.count(kind) for kind in ("lesson", "bug", "claim")] == [9, 10, 3]
    assert len(ENTRIES) == len(DATA["entries"])


def test_every_recorded_run_is_there() -> None:
    library = Library()
    for entry in ENTRIES.values():
        for id in [*filter(None, [entry.get("trace")]), *entry.get("runs", ())]:
            assert library.text(id)


@pytest.mark.parametrize(("id", "action"), TRIES)
def test_what_to_try_can_be_set(id: str, action: lessons.Data) -> None:
    limits = Limits()
    if settings := action.get("settings"):
        values = values_of_try(settings, defaults(limits, ""))
        config = config_of(values | {"knobs": {}, "pair": limits.pairs[0]}, limits)
        assert config.prompt.strip()
        assert {name: values[name] for name in settings if name != "prompt"} == {
            name: value for name, value in settings.items() if name != "prompt"
        }, "a setting that no widget has"
    if "prove" in action:
        assert action["prove"] in {rule.id for rule in rules.entries()}


def test_greedy_comes_first_and_every_fate_has_a_lesson() -> None:
    words = "\n".join(DATA["words"]["en"][id] for id, entry in ENTRIES.items() if entry["kind"] == "lesson")
    for name in ("accepted", "correction", "discarded", "bonus", "residual", "rolled back"):
        assert name in words
    greedy = [ENTRIES[id]["trace"] for id in list(ENTRIES)[:5]]
    assert all("sampled" not in trace for trace in greedy)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    folder = tmp_path / "lessons"
    shutil.copytree(lessons.FOLDER, folder)
    return folder


def edit(path: Path, pattern: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    changed = re.sub(pattern, new, text, count=1)
    assert changed != text
    path.write_text(changed, encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "pattern", "new", "complaint"),
    [
        ("zh/1-race.md", r"(## reasons\n)- faster: .*\n", r"\1", "every choice needs its reason"),
        ("zh/1-race.md", r"- same: .*\n", "", "differ in list_of_items"),
        ("zh/1-race.md", r"\{passes\}", "{tokens}", "differ in placeholders"),
        ("zh/2-one-pass.md", r"## try\n", "## later\n", "sections"),
        ("en/9-fails.md", r"\{speedup\}", "1.4×", "looks measured"),
        ("zh/3-keep-correct.md", r"## explain\n", "## explain\nMore.\n\n", "differ in paragraphs"),
        ("en/4-speed.md", r"- theory: .*\n", "", "under try"),
        ("lessons.json", r'"holds"', '"hold"', "unknown kind or key"),
        ("lessons.json", r'"focus"', '"fokus"', "unknown key in a beat"),
        ("lessons.json", r'"answer": "once"', '"answer": "twice"', "the answer must be"),
        ("bugs/bug-rate.py", r"# fix:", "# right:", "marks no line"),
    ],
)
def test_what_does_not_fit_is_refused(copied: Path, file: str, pattern: str, new: str, complaint: str) -> None:
    edit(copied / file, pattern, new)
    with pytest.raises(ValueError, match=complaint):
        lessons.data(copied)


def test_snippets_are_short_enough_to_read() -> None:
    for id, code in DATA["code"].items():
        assert 5 <= len(code["lines"]) <= 12, id
        assert max(map(len, [*code["lines"], code["fix"]])) <= 90, id


def test_the_cost_of_no_cache_says_how_it_was_measured() -> None:
    told = json.loads((lessons.FOLDER / "no-cache.json").read_text(encoding="utf-8"))
    assert told["command"] == "python -m specdemo.bench.no_cache"
    assert {"date", "target", "dtype", "hardware", "repeats", "rows"} <= set(told)


def test_the_teachers_answers_are_those_of_the_lessons() -> None:
    told = (lessons.FOLDER.parents[1] / "docs" / "teaching" / "README.md").read_text(encoding="utf-8")
    for id, entry in ENTRIES.items():
        if entry["kind"] == "lesson" and entry["answer"] != "prediction":
            choices = list(lessons.items(lessons.sections(DATA["words"]["en"][id])["choices"]))
            letter = "ABCD"[choices.index(entry["answer"])]
            assert re.search(rf"^\| {id[0]} [^|]+\| {letter}, ", told, re.M), id
    for id, code in DATA["code"].items():
        words = re.search(rf"^\| {id.removeprefix('bug-')} \| [^|`]*`([^`…]+)", told, re.M)
        assert words, id
        assert words[1] in code["lines"][ENTRIES[id]["line"]], id
