"""The headline's figures from rows, and the command that measures them."""

import argparse
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from toypair import ToyPair

from specdemo.bench import command, headline, measure
from specdemo.bench.measure import Finished
from specdemo.bench.options import plan_of
from specdemo.bench.plan import Choice, Plan
from specdemo.bench.rows import Row
from specdemo.config import RunConfig
from specdemo.models.presets import suited
from specdemo.prompts import GROUPS, Prompt


def template() -> tuple[Row, Row]:
    """A drafted row and its baseline."""
    plan = Plan((Prompt("p", "copy", "0"),), (Choice("model"),), gammas=(3,), temperatures=(0.0,), max_new_tokens=8)
    steps = measure.measure(ToyPair(), plan, {})
    plain, drafted = next(step.rows for step in steps if isinstance(step, Finished))
    return drafted, plain


DRAFTED, BASE = template()


def race(
    prompt: str, group: str, tokens: tuple[int, int], seconds: tuple[float, float], **changes: object
) -> list[Row]:
    """Drafted first in the pairs, baseline first in the list, as the bench has them."""
    where = {"prompt": prompt, "group": group, "looped": 0.0} | changes
    plain = replace(BASE, tokens=tokens[1], decode_s=seconds[1], **where)  # type: ignore[arg-type]
    return [plain, replace(DRAFTED, tokens=tokens[0], decode_s=seconds[0], **where)]  # type: ignore[arg-type]


def test_a_group_counts_by_totals_and_groups_by_their_geometric_mean() -> None:
    rows = [
        *race("a", "copy", (90, 90), (1.0, 4.0)),
        *race("b", "copy", (10, 10), (1.0, 1.0)),
        *race("c", "chat", (50, 50), (2.0, 2.0)),
    ]
    (found,) = headline.headlines(rows)
    assert dict(found.groups) == {"copy": pytest.approx(5 / 2), "chat": pytest.approx(1.0)}
    assert found.times == pytest.approx(math.sqrt(2.5))
    assert (found.slowest, found.middle, found.fastest) == (1.0, 1.0, 4.0)
    assert (found.runs, found.prompts) == (3, 3)
    assert found.plain_per_s == pytest.approx(150 / 7)


def test_texts_of_different_lengths_are_compared_by_their_rates() -> None:
    (found,) = headline.headlines(race("a", "copy", (100, 20), (2.0, 1.0), temperature=1.0, identical=None))
    assert found.times == pytest.approx(50 / 20)
    assert found.of == 0


def test_loops_are_told_and_left_out_once() -> None:
    rows = [*race("a", "copy", (90, 90), (1.0, 4.0), looped=0.8), *race("c", "copy", (50, 50), (2.0, 3.0), looped=0.2)]
    (found,) = headline.headlines(rows)
    assert (found.looping, found.runs) == (1, 2)
    assert found.looped == pytest.approx(0.5)
    assert found.without_loops == pytest.approx(1.5)


def test_repeats_show_their_spread_and_ties_are_counted() -> None:
    rows = [
        *race("a", "copy", (90, 90), (1.0, 4.0), repeat=0),
        *race("a", "copy", (90, 90), (1.0, 2.0), repeat=1, identical=False, tie=True),
    ]
    (found,) = headline.headlines(rows)
    assert found.repeats == (4.0, 2.0)
    assert (found.identical, found.of, found.ties) == (1, 2, 1)
    assert found.times == pytest.approx(3.0)


def options(*given: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(["--headline", *given])


def test_it_takes_the_pages_own_settings_over_every_kind_of_prompt() -> None:
    plan = plan_of(options("--limit", "1"))
    page = suited(RunConfig().pair)
    assert [(lane.drafter, lane.gamma) for lane in plan.lanes()[1:]] == [(page.drafter, page.gamma)]
    assert plan.temperatures == (0.0, 0.7, 1.0)
    assert plan.max_new_tokens == 96
    assert {prompt.group for prompt in plan.prompts} == set(GROUPS)
    assert len(plan.prompts) == len(GROUPS)
    assert len(plan_of(options()).prompts) > len(plan.prompts)


def test_the_command_measures_shows_and_goes_on(toys: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "prompts.csv"
    file.write_text("prompt,group\n0,copy\n1 2 3,chat\n")
    given = ("--prompts", str(file), "--drafters", "model", "--gammas", "3", "--max-new-tokens", "12")
    kept = ("--out", str(tmp_path / "out"))
    assert command.main(options(*given, *kept, "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(h["temperature"], h["runs"]) for h in found["headline"]] == [(0, 2), (0.7, 2), (1, 2)]
    assert found["headline"][0]["identical"] == found["headline"][0]["of"] == 2
    assert found["headline"][0]["times"] == pytest.approx(12 * 1.1 / (3 * 2.0), rel=1e-6)
    assert command.main(options(*given, *kept)) == 0
    out = capsys.readouterr().out
    assert "geometric mean" in out
    assert "identical texts 2 of 2" in out
