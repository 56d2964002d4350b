"""Every rule × every test, as the badges say: the registry's rules and more broken ones. A new rule joins by itself."""

from dataclasses import replace
from functools import cache

import pytest
from broken import BROKEN

from specdemo.core import rules
from specdemo.core.rules import Badge
from specdemo.prove.matrix import Row, row
from specdemo.prove.world import random_world

CELLS = {
    "rejection": "abcd",
    "block": "abcd",
    "greedy-match": "a",
    "sample-match": "abc",
    "shared-noise": "abc",
    "typical": "ad",
    "resample-from-p": "ad",
    "argmax-draft": "a",
    "first-unverified": "d",
    "bonus-skipped": "abc",
} | {broken.rule.id: broken.cells for broken in BROKEN}
"""The tests that a rule passes. Matching rules are lossless and accept less than rejection sampling by their nature."""

LAWFUL = (Badge.LOSSLESS, Badge.WASTEFUL)
WORLD = random_world(seed=1)


@cache
def found(id: str) -> Row:
    """The row of a rule: (b) is wrongly refused with chance 2 · 10⁻⁴; the others know no chance."""
    broken = next((one for one in BROKEN if one.rule.id == id), None)
    return row(broken.rule, WORLD, mistake=broken.mistake) if broken else row(rules.entry(id), WORLD)


def ids() -> list[str]:
    return [entry.id for entry in rules.entries()] + [broken.rule.id for broken in BROKEN]


@pytest.mark.parametrize("id", ids())
def test_a_badge_tells_what_the_tests_find(id: str) -> None:
    assert found(id).as_promised(), found(id).passed()


@pytest.mark.parametrize("id", CELLS)
def test_every_cell(id: str) -> None:
    assert "".join(test for test, passed in found(id).passed().items() if passed) == CELLS[id]


def test_a_reused_u_is_seen_in_the_joint_law_alone() -> None:
    assert found("one_reused_u").passed() == {"a": True, "b": True, "c": False, "d": True}


@pytest.mark.parametrize("one", ids())
def test_rules_that_swap_their_names_are_noticed(one: str) -> None:
    """The cells of one rule under the badge of another, wherever the badges promise other things."""
    for other in ids():
        mine, theirs = found(one).rule.badge, found(other).rule.badge
        unlike = mine is not theirs and not {mine, theirs} <= {Badge.BIASED, Badge.LOSSY}
        # Sample-and-match accepts less by its nature; what wastes and what is merely weak differ by their reference.
        weak = {mine, theirs} == set(LAWFUL) and "d" not in CELLS[other]
        # An argmax draft is exact at T = 0 and nowhere else, as greedy match is.
        exact_at_zero = Badge.GREEDY in (mine, theirs) and "a" in CELLS[other] and mine not in LAWFUL
        if unlike and not weak and not exact_at_zero:
            assert not replace(found(other), rule=found(one).rule).as_promised(), (one, other)


def test_swapped_functions_turn_both_rows_red() -> None:
    sound, broken = rules.entry("rejection"), rules.entry("resample-from-p")
    assert not row(replace(sound, judge=broken.judge), WORLD).as_promised()
    assert not row(replace(broken, judge=sound.judge), WORLD).as_promised()
