"""Rounds add up to hand-computed numbers; what has no denominator is None."""

import json
import math
from dataclasses import asdict

import pytest

from specdemo.core.metrics import (
    Comparison,
    LoopMeter,
    Metrics,
    Round,
    Tally,
    bootstrap_interval,
    compare,
    median,
    ratio,
    time_to,
)
from specdemo.core.verify import Fate

A, R, D = Fate.ACCEPTED, Fate.REJECTED, Fate.DISCARDED


def a_round(fates: str, last: Fate | None = None, skipped: int = 0, seconds: tuple[float, float, float] = (0, 0, 0)):
    """A round of chain drafting from letters, e.g. "aard"; the token after the kept ones follows from them."""
    drafted = tuple({"a": A, "r": R, "d": D}[letter] for letter in fates)
    last = last or (Fate.PLAIN if not drafted else Fate.RESAMPLED if R in drafted else Fate.BONUS)
    return Round(drafted, drafted.count(A) + 1, last, len(drafted), skipped, len(drafted) + 1, *seconds)


def tally(*rounds: Round) -> Metrics:
    adding = Tally()
    for number, r in enumerate(rounds):
        adding.add(r, range(100 * number, 100 * number + r.emitted))
    return adding.metrics()


def strict(value: object) -> str:
    return json.dumps(value, allow_nan=False)


# --- counts and rates --------------------------------------------------------------------------------------------


def test_every_number_of_a_small_run() -> None:
    m = tally(a_round("aaaa"), a_round("aard"), a_round("rddd"), a_round(""), a_round("aa"))
    assert (m.rounds, m.tokens, m.drafted) == (5, 5 + 3 + 1 + 1 + 3, 14)
    assert (m.accepted, m.rejected, m.discarded, m.tested) == (8, 2, 4, 10)
    assert (m.resampled, m.bonus, m.plain) == (2, 2, 1)
    assert (m.proposals, m.draft_steps, m.passes_saved) == (4, 14, 8)
    assert m.alpha == 8 / 10
    assert m.accepted_per_drafted == 8 / 14
    assert m.accepted_per_emitted == 8 / 13
    assert m.tau == 13 / 5
    assert m.hit_rate == 4 / 5
    assert m.lengths == (1, 0, 2, 0, 1)
    assert m.position_tested == (4, 3, 2, 1)
    assert m.position_accepted == (3, 3, 1, 1)


def test_the_parts_add_up() -> None:
    m = tally(a_round("ard"), a_round("aaa"), a_round(""), a_round("rd"))
    assert m.drafted == m.accepted + m.rejected + m.discarded
    assert m.tokens == m.accepted + m.resampled + m.bonus + m.plain
    assert sum(m.lengths) == m.proposals
    assert sum(m.position_tested) == m.tested
    assert sum(m.position_accepted) == m.accepted == sum(k * n for k, n in enumerate(m.lengths))


def test_withheld_guesses_are_in_no_rate() -> None:
    """Ten rounds with one guess too short to try, ten with four good ones: 100 %, 10 skipped."""
    m = tally(*[a_round("", skipped=1)] * 10, *[a_round("aaaa")] * 10)
    assert (m.alpha, m.accepted_per_drafted, m.skipped, m.hit_rate) == (1.0, 1.0, 10, 0.5)


def test_a_cautious_draft_shows_how_little_it_drafts() -> None:
    """Rate 100 %, but 0.3 tokens drafted a round and 1.3 tokens a pass: all three are there."""
    m = tally(*[a_round("a")] * 3, *[a_round("")] * 7)
    assert m.alpha == 1.0
    assert m.drafted / m.rounds == pytest.approx(0.3)
    assert m.tau == pytest.approx(1.3)


def test_a_round_cut_by_the_end_counts_nothing_behind_it() -> None:
    """The end token was the second of four accepted guesses: no bonus, no third or fourth guess."""
    m = tally(Round((A, A), 2, None, 4, 0, 5, 0.1, 0.2, 0.3))
    assert (m.tokens, m.drafted, m.tested, m.bonus, m.resampled, m.plain) == (2, 2, 2, 0, 0, 0)
    assert (m.alpha, m.tau, m.draft_steps, m.passes_saved) == (1.0, 2.0, 4, 1)


def test_discarded_guesses_are_not_tested() -> None:
    assert tally(a_round("rddddddd")).alpha == 0.0
    assert tally(a_round("ard")).alpha == 0.5
    assert tally(a_round("ard")).position_tested == (1, 1)


def test_a_rule_that_judges_blocks_has_no_alpha() -> None:
    """What was kept is counted as ever; only rates per test are undefined, for no token has a test of its own."""
    adding = Tally(tokenwise=False)
    for number, r in enumerate((a_round("aarr"), a_round("aaaa"), a_round(""))):
        adding.add(r, range(100 * number, 100 * number + r.emitted))
    m = adding.metrics()
    assert (m.alpha, m.tested, m.position_tested, m.position_accepted) == (None, 0, (), ())
    assert (m.tau, m.drafted, m.accepted, m.rejected, m.lengths) == (3.0, 8, 6, 2, (0, 0, 1, 0, 1))
    assert m.accepted_per_drafted == 6 / 8


# --- times ---------------------------------------------------------------------------------------------------------


def test_times() -> None:
    adding = Tally()
    adding.prefilled(2.0)
    adding.prefilled(0.5)
    assert adding.metrics().first_token_s is None
    adding.add(a_round("ar", seconds=(0.2, 0.3, 0.1)), [1, 2])
    adding.add(a_round("", seconds=(0.0, 0.25, 0.05)), [3])
    m = adding.metrics()
    assert (m.prefill_s, m.first_token_s) == (2.5, pytest.approx(3.1))
    assert (m.draft_s, m.verify_s, m.overhead_s) == pytest.approx((0.2, 0.55, 0.15))
    assert m.decode_s == adding.clock_s == pytest.approx(0.9)
    assert m.tokens_per_s == pytest.approx(3 / 0.9)
    assert m.draft_step_s == pytest.approx(0.1)


def test_a_draft_that_takes_no_steps_has_no_step_time() -> None:
    """Lookup drafts in one search: γ tokens, no draft steps."""
    m = tally(Round((A, A, R), 3, Fate.RESAMPLED, 0, 0, 4, 0.001, 0.01, 0.0))
    assert (m.draft_steps, m.draft_step_s, m.drafted) == (0, None, 3)


@pytest.mark.parametrize("rounds", [[], [a_round("")], [a_round("rd")], [a_round("aa")]], ids=len)
def test_no_time_gives_no_rate_and_strict_json(rounds: list[Round]) -> None:
    m = tally(*rounds)
    assert m.tokens_per_s is None
    text = strict(asdict(m))
    assert json.loads(text)["tokens_per_s"] is None
    assert all(math.isfinite(v) for v in asdict(m).values() if isinstance(v, float))


def test_an_empty_run_has_no_rates() -> None:
    m = Tally().metrics()
    rates = (m.alpha, m.accepted_per_drafted, m.accepted_per_emitted, m.tau, m.hit_rate, m.looped, m.draft_step_s)
    assert rates == (None,) * 7
    assert (m.rounds, m.tokens, m.lengths) == (0, 0, ())


def test_a_snapshot_does_not_change() -> None:
    adding = Tally()
    adding.add(a_round("aa"), [1, 2, 3])
    before = adding.metrics()
    copy = asdict(before)
    adding.add(a_round("ar"), [4, 5])
    assert asdict(before) == copy


# --- loops ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "share"),
    [
        (range(8), None),
        (range(9), 0.0),
        ([7] * 9, 1 / 2),
        ([7] * 17, 9 / 10),
        ([*range(10)] * 2, 3 / 13),
        ([*range(10), 99, *range(10)], 3 / 14),
    ],
)
def test_share_of_repeated_eight_grams(tokens: list[int], share: float | None) -> None:
    whole, one_by_one = LoopMeter(), LoopMeter()
    whole.extend(list(tokens))
    for token in tokens:
        one_by_one.extend([token])
    assert whole.share == one_by_one.share == share


def test_a_looping_text_shows_in_the_metrics() -> None:
    adding = Tally()
    for _ in range(10):
        adding.add(a_round("aaa"), [1, 2, 3, 4])
    assert adding.metrics().looped == pytest.approx(29 / 33)


# --- comparison -----------------------------------------------------------------------------------------------------


def baseline(n: int, seconds: float = 0.01) -> list[Round]:
    return [a_round("", seconds=(0.0, seconds, 0.0))] * n


def test_a_slow_draft_is_shown_as_slower() -> None:
    """Target and draft 10 ms a call, γ = 6, one of six kept: (60 + 10) ms for 2 tokens against 20 ms, ×0.286."""
    c = compare([a_round("ardddd", seconds=(0.06, 0.01, 0.0))] * 20, baseline(40))
    assert c.speedup == pytest.approx(20 / 70, rel=0.01)
    assert c.c == pytest.approx(1.0)
    assert (c.v, c.width) == (pytest.approx(1.0), 7)
    assert c.adds_up_to == pytest.approx(20 / 70)
    assert not c.too_short


def test_a_perfect_draft_that_costs_as_much_gains_nothing() -> None:
    """7 tokens for 7 calls: exactly even, and not rounded up to a gain."""
    c = compare([a_round("aaaaaa", seconds=(0.06, 0.01, 0.0))] * 10, baseline(70))
    assert c.speedup == pytest.approx(1.0)


def test_the_clock_stops_where_both_have_the_same_tokens() -> None:
    """The baseline was stopped after 10 tokens; the other lane reached 10 in its 4th round of 3 tokens."""
    c = compare([a_round("aa", seconds=(0.0, 0.02, 0.0))] * 9, baseline(10))
    assert (c.tokens, c.speedup) == (10, pytest.approx(0.10 / 0.08))
    assert c.too_short


def test_v_is_taken_at_the_commonest_width_and_as_a_median() -> None:
    rounds = [a_round("aaaa", seconds=(0, t, 0)) for t in (0.012, 0.011, 5.0)] + [a_round("", seconds=(0, 0.01, 0))] * 9
    c = compare(rounds, [*baseline(30), a_round("", seconds=(0, 9.0, 0))])
    assert (c.width, c.v) == (5, pytest.approx(1.2))


@pytest.mark.parametrize(("tokens", "short"), [(24, True), (25, False)])
def test_too_short_to_judge(tokens: int, short: bool) -> None:
    assert compare(baseline(tokens), baseline(60)).too_short is short


def test_overhead_counts_on_both_sides() -> None:
    c = compare([a_round("a", seconds=(0.004, 0.01, 0.026))] * 20, [a_round("", seconds=(0, 0.01, 0.006))] * 30)
    assert c.speedup == pytest.approx(30 * 0.016 / (15 * 0.04))
    assert c.c == pytest.approx(0.004 / 0.016)
    assert c.adds_up_to == pytest.approx(40 * 0.016 / (20 * 0.04))


@pytest.mark.parametrize(
    ("speculative", "plain"),
    [([], []), ([], baseline(3)), (baseline(3), []), (baseline(3, 0), baseline(3, 0)), (baseline(3), baseline(3, 0))],
    ids=["both empty", "no rounds", "no baseline", "no time", "no baseline time"],
)
def test_nothing_to_compare_is_none(speculative: list[Round], plain: list[Round]) -> None:
    c = compare(speculative, plain)
    strict(asdict(c))
    assert (c.speedup, c.c, c.v, c.adds_up_to) == (None,) * 4


def test_equal_lanes_have_no_draft_figures() -> None:
    assert compare(baseline(30), baseline(30)) == Comparison(30, 1.0, None, None, None, pytest.approx(1.0), False)


def test_time_to_counts_whole_rounds() -> None:
    rounds = [a_round("aa", seconds=(1, 2, 3)), a_round("", seconds=(0, 1, 0)), a_round("a", seconds=(0, 1, 1))]
    assert [time_to(n, rounds) for n in range(8)] == [0, 6, 6, 6, 7, 9, 9, 9]


def test_median_and_ratio() -> None:
    assert (median([3, 1, 2]), median([4, 1, 2, 3]), median([5])) == (2, 2.5, 5)
    assert (ratio(1, 4), ratio(1, 0), ratio(0, 0), ratio(0, 5)) == (0.25, None, None, 0.0)


# --- interval -------------------------------------------------------------------------------------------------------


def test_interval_sees_that_tests_within_a_prompt_depend_on_each_other() -> None:
    """Ten prompts of 100 tests, half at α = 0.9 and half at 0.3: a binomial over 1,000 tests would be ±0.03."""
    low, high = bootstrap_interval([(90, 100), (30, 100)] * 5)
    assert low < 0.6 < high
    assert high - low > 3.6 * 2 * 1.96 * math.sqrt(0.6 * 0.4 / 1000)


def test_interval_of_equal_prompts_has_no_width() -> None:
    assert bootstrap_interval([(8, 10)] * 5) == (0.8, 0.8)


def test_interval_weighs_prompts_by_their_tests() -> None:
    low, _ = bootstrap_interval([(1000, 1000)] * 9 + [(0, 1)])
    assert low > 0.99


def test_interval_repeats_with_its_seed_and_lies_in_the_unit_interval() -> None:
    counts = [(3, 10), (9, 10), (5, 5), (0, 7)]
    assert bootstrap_interval(counts, seed=1) == bootstrap_interval(counts, seed=1)
    low, high = bootstrap_interval(counts)
    assert 0 <= low <= high <= 1


@pytest.mark.parametrize("counts", [[], [(1, 2)], [(0, 0), (1, 2)], [(0, 0)] * 5])
def test_no_interval_from_fewer_than_two_prompts(counts: list[tuple[int, int]]) -> None:
    assert bootstrap_interval(counts) is None
