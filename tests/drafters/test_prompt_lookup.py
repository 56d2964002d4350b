"""Where prompt lookup looks, what it copies, and what it holds back."""

from collections.abc import Sequence

import pytest
from enumerating import outcomes
from torch import Tensor, full
from toy_lanes import GREEDY, Bench, Knobs, drafted, finished, metrics

from specdemo import drafters
from specdemo.config import SamplingConfig
from specdemo.core.events import Judged
from specdemo.core.sampling import Coin, SeededCoin, Shaping
from specdemo.core.verify import Draft, Fate
from specdemo.errors import SettingError
from specdemo.models.toy import ToyAccess, script

V = 100


def propose(
    tokens: Sequence[int], gamma: int = 4, vocabulary: int = V, end_tokens: tuple[int, ...] = (), **knobs: int
) -> Draft:
    access = ToyAccess(script([0], 0, V), script([0], 0, V), vocabulary)
    drafter = drafters.build("prompt-lookup", access, Shaping(GREEDY, end_tokens), knobs)
    drafter.prefill(tokens[:-1])
    return drafter.propose(tokens, gamma, SeededCoin(0))


def bench(said: Sequence[int], prompt: Sequence[int]) -> Bench:
    table = script(said, len(prompt), V)
    return Bench(ToyAccess(table, table, V), table=None)  # type: ignore[arg-type]  # no n-gram drafter here


HISTORY = [1, 2, 3, 7, 40, 41, 42, 2, 3, 8, 43, 1, 2, 3]


def test_longest_match_wins_before_the_latest() -> None:
    """G02: (1, 2, 3) → 7 long ago, (2, 3) → 8 lately."""
    far = propose(HISTORY, min_n=2, max_n=3)
    assert far.tokens == (7, 40, 41, 42)
    assert far.source == "lookup at 0 (n=3)"
    near = propose(HISTORY, min_n=2, max_n=2)
    assert near.tokens == (8, 43, 1, 2)
    assert near.source == "lookup at 7 (n=2)"


def test_latest_of_equal_matches_wins() -> None:
    assert propose([5, 1, 5, 2, 5, 3, 9, 5]).tokens[:2] == (3, 9)


def test_shorter_matches_are_a_fallback_down_to_min_n() -> None:
    tokens = [1, 2, 3, 4, 9, 3]
    assert propose(tokens, gamma=2).tokens == (4, 9)
    assert propose(tokens, min_n=2).tokens == ()
    assert propose(tokens, min_n=2).source == "lookup: no match"


def test_no_match_and_very_short_texts() -> None:
    assert propose([1, 2, 3, 4]).tokens == ()
    assert propose([1]).tokens == ()


@pytest.mark.parametrize(("low", "high"), [(3, 2), (0, 2), (-1, 2), (1, 0)])
def test_bad_lengths_are_refused(low: int, high: int) -> None:
    with pytest.raises(SettingError, match=r"min_n|max_n"):
        propose([1, 2, 3], min_n=low, max_n=high)


def test_copy_stops_at_the_end_of_the_text() -> None:
    """One repeated id two places back is no sign of a period."""
    assert propose([7, 8, 7]).tokens == (8, 7)


def test_copy_goes_on_where_the_text_is_periodic() -> None:
    assert propose([1, 1]).tokens == (1, 1, 1, 1)
    assert propose([7, 8, 9, 7, 8, 9], gamma=7).tokens == (7, 8, 9, 7, 8, 9, 7)


def test_first_proposal_of_a_block_is_tested() -> None:
    """B02: the target does not say 1; a block of one."""
    ones = bench([2, 3, 4], [1, 1, 1])
    events = ones.events("prompt-lookup", {"max_n": 2, "min_n": 2}, [1, 1, 1], gamma=1, new=3)
    assert drafted(events)[0].tokens == (1,)
    judged = next(event for event in events if isinstance(event, Judged))
    assert judged.fates == (Fate.REJECTED,)
    assert finished(events).tokens == (2, 3, 4)


@pytest.mark.parametrize("min_n", [1, 2, 3])
def test_ambiguous_pair_keeps_the_law(min_n: int) -> None:
    """B10: (27, 27) was followed by A and by B; A comes in 70 % of runs whatever is proposed. Exact."""
    a, b, prompt = 5, 6, (3, 27, 27, 5, 8, 3, 27, 27, 6, 9, 3, 27, 27)

    def table(context: Sequence[int]) -> Tensor:
        logits = full((30,), float("-inf"))
        logits[[a, b]] = Tensor([0.7, 0.3]).log()
        return logits

    pair = Bench(ToyAccess(table, table, 30), table=None)  # type: ignore[arg-type]

    def play(coin: Coin) -> int:
        warm = SamplingConfig(temperature=1.0)
        events = pair.events("prompt-lookup", {"min_n": min_n}, prompt, gamma=1, new=2, sampling=warm, coin=coin)
        assert drafted(events)[0].tokens == (b,)
        return finished(events).tokens[0]

    assert outcomes(play)[a] == pytest.approx(0.7, abs=1e-6)


def test_withheld_proposals_are_counted_apart() -> None:
    """M02, by hand. Rounds: 2 found and withheld; no match; 2 withheld; 4 of 4 kept; 4 of 4 kept."""
    prompt, said = [7, 8, 7], [5, 7, 8, 7, 5, 7, 8, 7, 5, 7, 8, 7, 5]
    events = bench(said, prompt).events("prompt-lookup", {"min_draft": 3}, prompt, gamma=4, new=13)
    assert [len(event.tokens) for event in drafted(events)] == [0, 0, 0, 4, 4]
    assert [event.skipped for event in drafted(events)] == [2, 0, 2, 0, 0]
    numbers = metrics(events)
    assert (numbers.alpha, numbers.tested, numbers.skipped, numbers.hit_rate) == (1.0, 8, 4, 2 / 5)
    assert finished(events).tokens == tuple(said)


def test_min_draft_does_not_forbid_a_small_gamma() -> None:
    assert propose([1, 2, 3, 1], gamma=1, min_draft=3).tokens == (2,)


def test_ids_outside_the_vocabulary_are_not_proposed() -> None:
    """V06: padding or image ids may stand in a prompt."""
    assert propose([3, 4, 5, 99, 6, 3, 4], vocabulary=90).tokens == (5,)
    assert propose([3, 4, 99, 6, 3, 4], vocabulary=90).tokens == ()


def test_nothing_is_copied_behind_an_end_token() -> None:
    assert propose([3, 4, 5, 2, 6, 3, 4], end_tokens=(2,)).tokens == (5, 2)


def test_forbidden_end_token_is_proposed_in_vain() -> None:
    """V06: an end token that must wait is rejected and never said."""
    prompt, end = [3, 4, 9, 5, 3, 4], 9
    table = script([9, 9, 9, 6, 7], len(prompt), V)
    shaping = Shaping(GREEDY, (end,), first_end=len(prompt) + 3)
    drafter = drafters.build("prompt-lookup", ToyAccess(table, table, V), shaping, {})
    draft = drafter.propose(prompt, 3, SeededCoin(0))
    assert draft.tokens == (end,)
    assert float(shaping.laws(table(prompt).unsqueeze(0), len(prompt))[0, end]) == 0.0


@pytest.mark.parametrize("knobs", [{}, {"max_n": 3, "min_n": 2}])
def test_index_is_the_same_as_a_search(knobs: Knobs) -> None:
    """Against the definition, on a growing text of few ids, whether ids come one by one or in blocks."""
    said = [int(x) for x in "1213121121312131121213112131211213121"]
    access = ToyAccess(script([0], 0, V), script([0], 0, V), V)
    drafter = drafters.build("prompt-lookup", access, Shaping(GREEDY), knobs)
    drafter.prefill(said[:5])
    for end in [*range(6, 20), 25, 31, len(said)]:
        tokens = said[:end]
        assert drafter.propose(tokens, 1, SeededCoin(0)).tokens == search(tokens, **{"max_n": 8, "min_n": 1, **knobs})


def search(tokens: list[int], max_n: int, min_n: int) -> tuple[int, ...]:
    for n in range(min(max_n, len(tokens) - 1), min_n - 1, -1):
        for start in range(len(tokens) - n - 1, -1, -1):
            if tokens[start : start + n] == tokens[-n:]:
                return (tokens[start + n],)
    return ()
