"""A bench goes on where it stopped, and only with the settings it was begun with."""

from pathlib import Path

import pytest
from test_summary import row

from specdemo.bench.measure import DraftCost
from specdemo.bench.rows import Row
from specdemo.bench.store import Store, write_csv
from specdemo.costs import Costs
from specdemo.errors import SettingError, UserError

SETTINGS = {"pair": "toy", "gammas": [1, 3]}
COSTS = (DraftCost("model", 0.0, Costs(((1, 0.03), (4, 0.04)), 0.01)),)


def begun(folder: Path) -> Store:
    store = Store(folder, SETTINGS)
    store.begin({"commit": None}, COSTS)
    return store


def test_rows_and_costs_come_back(tmp_path: Path) -> None:
    store = begun(tmp_path / "new" / "folder")
    rows = (row("a"), row("a", drafter="none", speedup=None, identical=None, group="line\u2028end"))
    store.add(rows)
    again = Store(store.folder, SETTINGS)
    assert again.costs == COSTS
    assert again.environment == {"commit": None}
    assert [(r.prompt, r.drafter, r.speedup, r.group) for r in again.rows] == [
        ("a", "model", 1.5, "copy"),
        ("a", "none", None, "line\u2028end"),
    ]


def test_a_line_cut_short_and_its_race_are_dropped(tmp_path: Path) -> None:
    store = begun(tmp_path)
    store.add((row("a"), row("a", gamma=1)))
    store.add((row("b"), row("b", gamma=1)))
    file = tmp_path / "rows.jsonl"
    file.write_text(file.read_text()[:-20])
    again = Store(tmp_path, SETTINGS)
    again.keep_whole_races(2)
    assert {r.prompt for r in again.rows} == {"a"}
    again.add((row("b"), row("b", gamma=1)))
    assert [r.prompt for r in Store(tmp_path, SETTINGS).rows] == ["a", "a", "b", "b"]


def test_other_settings_are_refused_and_nothing_is_touched(tmp_path: Path) -> None:
    begun(tmp_path).add((row("a"),))
    before = (tmp_path / "rows.jsonl").read_bytes()
    with pytest.raises(SettingError) as refused:
        Store(tmp_path, SETTINGS | {"gammas": [5]})
    assert refused.value.key == "bench_other_settings"
    assert "gammas" in refused.value.say()
    assert (tmp_path / "rows.jsonl").read_bytes() == before


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(SettingError, match="other files"):
        Store(tmp_path, SETTINGS)


@pytest.mark.parametrize("line", ["{", "[]", "3", "{}", '{"prompt": "a"}'])
def test_a_broken_line_is_named(tmp_path: Path, line: str) -> None:
    begun(tmp_path).add((row("a"),))
    with (tmp_path / "rows.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(UserError, match="line 2"):
        Store(tmp_path, SETTINGS)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"settings": {"pair": "toy", "gammas": [1, 3]}}'])
def test_a_broken_description_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "bench.json").write_text(content)
    with pytest.raises(UserError) as refused:
        Store(tmp_path, SETTINGS)
    assert refused.value.key == "bench_broken"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError) as refused:
        Store(tmp_path / "file" / "below", SETTINGS)
    assert refused.value.key == "bench_unwritable"


def test_csv_has_a_header_and_empty_cells_for_what_was_not_measured(tmp_path: Path) -> None:
    write_csv(tmp_path / "rows.csv", [row("a, b", c=None)], Row)
    header, line = (tmp_path / "rows.csv").read_text().splitlines()
    assert header.startswith("prompt,group,temperature")
    assert line.startswith('"a, b",copy,0.0')
    assert ",,1.2,4," in line
