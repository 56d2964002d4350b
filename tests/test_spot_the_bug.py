"""Every snippet of "Spot the bug" is run as shown and with its line put right: what the lesson says of it is true."""

from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from specdemo.core.sampling import SeededCoin
from specdemo.web import lessons

GIVEN = {"torch": torch, "Counter": Counter, "defaultdict": defaultdict, "pairwise": pairwise}
VOCABULARY = 5


def both(id: str, name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The function of a snippet: as shown, and put right."""
    path = lessons.FOLDER / "bugs" / f"{id}.py"
    made = []
    for source in ("\n".join(lessons.snippet(path)[0]), lessons.repaired(path)):
        space: dict[str, Any] = dict(GIVEN)
        exec(compile(source, path.name, "exec"), space)
        made.append(space[name])
    return made[0], made[1]


def table(*tokens: int) -> Tensor:
    """Logits [V] that depend on the whole text before."""
    generator = torch.Generator().manual_seed(sum((i + 1) * (token + 1) for i, token in enumerate(tokens)))
    return torch.randn(VOCABULARY, generator=generator, dtype=torch.float64)


def law(draw: Callable[[], int], count: int) -> Tensor:
    counts = Counter(draw() for _ in range(count))
    return torch.tensor([counts[i] / count for i in range(VOCABULARY)])


def distance(one: Tensor, other: Tensor) -> float:
    return 0.5 * float((one.double() - other.double()).abs().sum())


def test_a_block_of_the_wrong_shape_runs_and_hides_the_guesses_from_each_other() -> None:
    def model(block: Tensor, past: list[int]) -> Tensor:
        rows = [[table(*past, *row[: i + 1]) for i in range(len(row))] for row in block.tolist()]
        return torch.stack([torch.stack(row) for row in rows])

    text, guesses = [1, 2, 3], [0, 4, 2]
    alone = [int(table(*text, *guesses[:i]).argmax()) for i in range(len(guesses) + 1)]
    wrong, right = both("bug-shape", "target_choices")
    assert right(model, text, guesses) == alone
    assert len(wrong(model, text, guesses)) == len(alone)
    assert wrong(model, text, guesses) != alone


def test_the_bonus_is_lost_only_where_all_are_accepted() -> None:
    wrong, right = both("bug-bonus", "keep")
    assert right([1, 2], [1, 2, 3]) == [1, 2, 3]
    assert wrong([1, 2], [1, 2, 3]) == [1, 2]
    assert wrong([1, 9], [1, 2, 3]) == right([1, 9], [1, 2, 3]) == [1, 2]
    assert right([], [7]) == [7]


def test_logits_in_the_residual_give_another_law() -> None:
    p_logits, q_logits = torch.tensor([2.0, 1.0, 0.0, -4.0, -4.0]), torch.tensor([0.0, 2.0, 1.0, -7.0, -7.0])
    p, q = p_logits.softmax(-1), q_logits.softmax(-1)

    def emitted(judge: Callable[..., Any]) -> Tensor:
        coin = SeededCoin(5)
        return law(lambda: int(judge(coin.draw(q), p_logits, q_logits, coin)), 20_000)

    wrong, right = both("bug-logits", "judge")
    # 20,000 draws over five tokens: a distance above 0.02 has a chance below 1e-6 (Hoeffding over all 32 sets).
    assert distance(emitted(right), p) < 0.02
    assert distance(emitted(wrong), p) > 0.05


def test_a_law_that_was_not_drawn_from_gives_another_law() -> None:
    wrong, right = both("bug-laws", "draft")

    def model(text: list[int]) -> Tensor:
        return table(*text)

    p, drawn = table(9).softmax(-1), (table(3) / 2.5).softmax(-1)
    for draft, sound in ((right, True), (wrong, False)):
        guesses, laws = draft(model, [3], 3, 2.5, SeededCoin(1))
        assert len(guesses) == len(laws) == 3
        told = laws[0]
        assert (distance(told, drawn) < 1e-9) is sound
        keep = torch.minimum(torch.ones(()), p / told)
        rest = (p - told).clamp(min=0)
        emitted = drawn * keep + (1 - (drawn * keep).sum()) * rest / rest.sum()
        assert (distance(emitted, p) < 1e-9) is sound


def test_the_rate_is_one_whatever_happens() -> None:
    wrong, right = both("bug-rate", "acceptance")
    rounds = [["accepted", "rejected", "discarded"], ["accepted", "accepted"], ["rejected", "discarded"]]
    assert wrong(rounds) == 1
    assert right(rounds) == pytest.approx(3 / 5)


def test_the_warmed_cache_is_never_used() -> None:
    fed = 0

    def feed(tokens: list[int], cache: list[int]) -> Tensor:
        nonlocal fed
        fed += len(tokens)
        cache.extend(tokens)
        return table(*cache)

    texts, work = [], []
    for decode in both("bug-cache", "decode"):
        fed = 0
        texts.append(decode(SimpleNamespace(feed=feed), [1, 2, 3], 10))
        work.append(fed)
    assert texts[0] == texts[1]
    assert work == [2 + sum(range(3, 13)), 2 + 10]


def test_the_prompt_makes_an_answer_look_quick() -> None:
    wrong, right = both("bug-throughput", "tokens_per_second")

    def rate(measure: Callable[..., Any]) -> Any:
        times = iter([0.0, 2.0])
        return measure(lambda prompt: [*prompt, *range(10)], list(range(90)), lambda: next(times))

    assert (rate(wrong), rate(right)) == (50, 5)


def test_a_table_of_words_knows_no_token_id() -> None:
    ids = {"the": 1, " cat": 2, " sat": 3}
    tokenizer = SimpleNamespace(encode=lambda text: [1, 2, 3, 1, 2])
    wrong, right = both("bug-words", "count")
    assert right(["the cat sat the cat"], tokenizer)[ids["the"]] == {ids[" cat"]: 2}
    assert not any(isinstance(key, int) for key in wrong(["the cat sat the cat"], tokenizer))


@pytest.mark.parametrize(("limit", "kept"), [(9, 6), (5, 5), (4, 4)])
def test_a_block_runs_past_the_end_and_the_limit(limit: int, kept: int) -> None:
    text = [5, 6, 7, 8, 9, 0, 4, 4, 4, 4, 4, 4]

    def one_round(before: list[int]) -> list[int]:
        return text[len(before) - 1 :][:4]

    wrong, right = both("bug-stop", "generate")
    assert right(one_round, [1], 0, limit) == text[:kept]
    assert len(wrong(one_round, [1], 0, limit)) == 4 * -(-kept // 4)


def test_tokens_a_pass_are_no_speedup() -> None:
    plain = SimpleNamespace(tokens=60, passes=60, seconds=3.0)
    fast = SimpleNamespace(tokens=60, passes=20, seconds=6.0)
    wrong, right = both("bug-baseline", "report")
    assert wrong(plain, fast)["speedup"] == 3
    assert right(plain, fast)["speedup"] == 0.5


def test_no_snippet_is_left_without_a_proof() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    assert all(f'both("{id}"' in source for id in lessons.data()["code"])
