"""`bench` over a toy pair: JSON and nothing else, interrupted and continued, refused before anything is loaded."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specdemo.bench import command, modes
from specdemo.errors import SettingError

pytestmark = pytest.mark.usefixtures("toys")


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    file = tmp_path / "prompts.txt"
    file.write_text("0\n1 2 3\n5 5\n")
    return file


def run(prompts: Path, *options: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    usual = ["--prompts", str(prompts), "--drafters", "model,oracle", "--gammas", "1,3", "--max-new-tokens", "12"]
    return command.main(parser.parse_args([*usual, *options]))


def result(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What stdout held: one JSON object, strict, and nothing else."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    out = capsys.readouterr().out
    assert out.count("\n") == 1
    found: dict[str, Any] = json.loads(out, parse_constant=refuse)
    return found


def test_json_is_one_object_and_nothing_else(prompts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(prompts, "--json") == 0
    found = result(capsys)
    assert found["complete"] is True
    assert len(found["rows"]) == 3 * 2 * 5
    assert len(found["summaries"]) == 2 * 5
    assert found["settings"]["gammas"] == [1, 3]
    assert {"commit", "hardware", "versions", "dtype"} <= found.keys()
    drafted = next(row for row in found["rows"] if row["lane"] == "model γ3" and row["temperature"] == 0)
    assert drafted["speedup"] == pytest.approx(12 * 1.1 / (3 * 2.0), rel=1e-6)
    assert all(row["speedup"] is None for row in found["rows"] if row["control"])


def test_tables_show_controls_apart_and_never_as_the_fastest(prompts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(prompts) == 0
    out = capsys.readouterr().out
    assert "Fastest at T = 0: model γ3" in out
    assert "controls (no deployment could use them; not timed)" in out


def test_csv_has_a_line_for_every_row(prompts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(prompts, "--csv", str(tmp_path / "rows.csv"), "--json")
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 1 + len(result(capsys)["rows"])


def interrupt_after(races: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user presses Ctrl-C once so many races are over."""
    add, left = command.Report.add, [races]

    def counting(self: Any, rows: Any) -> None:
        add(self, rows)
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(command.Report, "add", counting)


def test_interrupted_and_continued_gives_the_same_rows(
    prompts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(prompts, "--json", "--out", str(tmp_path / "whole"))
    whole = result(capsys)
    with monkeypatch.context() as patch:
        interrupt_after(2, patch)
        assert run(prompts, "--json", "--out", str(tmp_path / "parts")) == 130
    captured = capsys.readouterr()
    part = json.loads(captured.out)
    assert (part["complete"], part["races"]) == (False, {"done": 2, "of": 6})
    assert "Run the same command again" in captured.err
    assert run(prompts, "--json", "--out", str(tmp_path / "parts")) == 0
    continued = result(capsys)
    assert continued["complete"] is True
    # The toys' clock stands elsewhere after a pause, so sums of floats differ in their last digits.
    assert len(continued["rows"]) == len(whole["rows"])
    for again, before in zip(continued["rows"], whole["rows"], strict=True):
        assert again == pytest.approx(before, abs=1e-9)


def test_interrupted_before_the_first_race_can_go_on(
    prompts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(command, "_told", pressed)
        assert run(prompts, "--json", "--out", str(tmp_path / "out")) == 130
    assert result(capsys)["races"]["done"] == 0
    assert run(prompts, "--json", "--out", str(tmp_path / "out")) == 0
    assert result(capsys)["complete"] is True


def test_other_settings_in_the_same_folder_are_refused(prompts: Path, tmp_path: Path) -> None:
    run(prompts, "--out", str(tmp_path / "out"))
    with pytest.raises(SettingError, match="seed"):
        run(prompts, "--out", str(tmp_path / "out"), "--seed", "7")
    prompts.write_text("0\n1 2 3\n5 6\n")
    with pytest.raises(SettingError, match="prompts_sha256"):
        run(prompts, "--out", str(tmp_path / "out"))


@pytest.mark.parametrize(
    "options",
    [("--gammas", "99"), ("--gammas", "1,x"), ("--temperatures", "-1"), ("--limit", "0"), ("--drafters", "telepathy"),
     ("--drafters", ","), ("--repeat", "0"), ("--max-new-tokens", "0")],
)  # fmt: skip
def test_bad_settings_are_refused(prompts: Path, options: tuple[str, ...]) -> None:
    with pytest.raises(SettingError):
        run(prompts, *options)


def test_growth_also_counts_runs_at_once_and_memory_over_many_runs(
    prompts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(prompts, "--growth", "--gammas", "3", "--json") == 0
    found = result(capsys)
    assert found["complete"] is True
    assert [row["runs"] for row in found["concurrent"]] == [1, 2, 4, 8, 16]
    assert [row["tokens"] for row in found["concurrent"]] == [12 * n for n in (1, 2, 4, 8, 16)]
    assert found["memory"]["bytes"] > 0 < found["memory"]["early_bytes"]


def test_an_interrupted_growth_shows_what_it_has(
    prompts: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*_: object) -> Iterator[Any]:
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(modes.concurrent, "crowds", pressed)
    assert run(prompts, "--growth", "--gammas", "3", "--json") == 130
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert (found["complete"], len(found["rows"]), found["concurrent"]) == (False, 6, [])
    assert "Stopped" in captured.err
    assert run(prompts, "--growth", "--gammas", "3") == 130


def test_growth_goes_as_far_as_the_limit_lets_the_widest_pass(
    prompts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(prompts, "--growth", "--full", "--gammas", "3", "--json") == 0
    rows = result(capsys)["rows"]
    assert [(row["context"], row["width"]) for row in rows] == [(n, w) for n in (128, 512, 2048, 4092) for w in (1, 4)]
    assert [row["seconds"] for row in rows[:2]] == [pytest.approx(1.1), pytest.approx(1.4)]
    assert rows[1]["tokens_per_s"] == pytest.approx(4 / 1.4)
    assert all(row["share"] == pytest.approx(1.0) for row in rows)
