"""Text that a target writes: the batch pass is the target's pass, turns are whole, and stopping loses little."""

import random
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
import torch
from tiny_models import ROWS, save, tiny

from specdemo.distill.batch_llama import BatchLlama, require_llama
from specdemo.distill.conversations import KINDS, Script, draw, shortened
from specdemo.distill.make_text import make_text
from specdemo.distill.sampler import Conversation, Role, Sampler, Template
from specdemo.distill.shards import read_head, read_shard, shard_paths
from specdemo.errors import Cancelled, PairError
from specdemo.models.loader import Pair, load_pair
from specdemo.models.progress import never, silent

TEMPLATE = Template(head=(5, 6, 7), tail=(2, 8, 9))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return load_pair(save(tmp_path_factory.mktemp("llama"), tiny("llama")))


def test_rows_at_their_own_places_get_the_targets_states() -> None:
    """Three rows that begin at different times, each against transformers' own pass over its text."""
    model = tiny("llama")
    texts = [[(7 * i + 3 * row) % ROWS for i in range(9)] for row in range(3)]
    batch = BatchLlama(model, ROWS, rows=3, length=16, dtype=torch.float32)
    found: list[list[torch.Tensor]] = [[] for _ in texts]
    for time in range(9 + 4):
        places = [min(max(time - 2 * row, 0), 8) for row in range(3)]
        states = batch.step(
            torch.tensor([text[p] for text, p in zip(texts, places, strict=True)]), torch.tensor(places)
        )
        for row, place in enumerate(places):
            if place == len(found[row]):
                found[row].append(states[row])
    for text, states in zip(texts, found, strict=True):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([text])).logits[0]
        assert torch.allclose(batch.head(torch.stack(states)), logits, atol=1e-3)


@pytest.mark.parametrize("kind", ["gpt2", "neox"])
def test_other_families_are_refused_with_a_sentence(kind: str) -> None:
    with pytest.raises(PairError) as refused:
        require_llama(tiny(kind), "my-model")
    assert "my-model" in str(refused.value)
    assert "train-ngram" in str(refused.value)


def written(scripts: Callable[[], Script], count: int, seed: int = 0) -> list[Conversation]:
    """The first conversations of a small sampler."""
    batch = BatchLlama(tiny("llama"), ROWS, rows=4, length=60, dtype=torch.float32)
    return list(islice(Sampler(batch, TEMPLATE, (2,), seed).conversations(scripts), count))


def cool(given: tuple[int, ...], answer: int = 12) -> Script:
    return Script("task", given, 0, 1.0, 0.0, answer)


def test_greedy_answers_are_the_targets_own() -> None:
    numbers = iter(range(10, 99))
    model = tiny("llama")
    for one in written(lambda: cool((next(numbers), 4)), 6):
        said = [token for token, role in zip(one.tokens, one.roles, strict=True) if role == Role.ANSWER]
        ids = [*TEMPLATE.head, *one.script.given, *TEMPLATE.tail]
        for token in said:
            with torch.no_grad():
                assert token == int(model(input_ids=torch.tensor([ids])).logits[0, -1].argmax())
            ids.append(token)
        assert ids == [*TEMPLATE.head, *one.tokens]


def test_states_belong_to_their_ids() -> None:
    """Also of rows that took the place of finished ones."""
    numbers, coin, model = iter(range(10, 99)), random.Random(1), tiny("llama")
    for one in written(lambda: Script("free", (next(numbers),), 6, 1.0, 1.0, coin.randrange(3, 20)), 9):
        with torch.no_grad():
            ids = torch.tensor([[*TEMPLATE.head, *one.tokens]])
            states = model.model(input_ids=ids).last_hidden_state[0, len(TEMPLATE.head) : -1]
        assert torch.allclose(one.hidden, states, atol=1e-3)


def test_turns_are_whole() -> None:
    numbers = iter(range(10, 99))
    for one in written(lambda: Script("free", (next(numbers),), 5, 1.0, 1.0, 7), 9):
        order = [role for i, role in enumerate(one.roles) if i == 0 or role != one.roles[i - 1]]
        assert order in ([Role.GIVEN, Role.USER, Role.TEMPLATE, Role.ANSWER], [Role.GIVEN, Role.TEMPLATE, Role.ANSWER])
        assert one.roles.count(Role.USER) <= 5
        assert one.roles.count(Role.ANSWER) <= 7
        tail = one.roles.index(Role.TEMPLATE)
        assert tuple(one.tokens[tail : tail + 3]) == TEMPLATE.tail


def test_a_seed_is_a_text() -> None:
    def play(seed: int) -> list[list[int]]:
        numbers = iter(range(10, 99))
        return [one.tokens for one in written(lambda: Script("free", (next(numbers),), 5, 1.0, 1.0, 7), 5, seed)]

    assert play(1) == play(1) != play(2)


def test_a_looping_answer_ends() -> None:
    """A target that repeats itself is stopped at the third time, not at the limit."""
    model = tiny("llama", initializer_range=0.02)
    batch = BatchLlama(model, ROWS, rows=1, length=120, dtype=torch.float32)
    one = next(iter(Sampler(batch, TEMPLATE, (2,), 0).conversations(lambda: cool((10,), answer=100))))
    assert one.roles.count(Role.ANSWER) < 60


def test_every_kind_is_drawn_and_none_needs_the_projects_prompts() -> None:
    coin = random.Random(0)
    passages = ["One. Two! Three? Four"] * 10
    scripts = [draw(coin, passages, lambda text: tuple(text.encode())) for _ in range(300)]
    assert {script.kind for script in scripts} == {kind for kind, _ in KINDS}
    assert all(script.kind != "task" for script in (draw(coin, [], lambda text: (1,)) for _ in range(100)))
    assert {shortened(coin, passages[0]) for _ in range(50)} == {"One.", "One. Two!", "One. Two! Three?"}


def test_making_goes_on_where_it_stopped(pair: Pair, tmp_path: Path) -> None:
    made = make_text(pair, tmp_path, 300, 0, silent, never, rows=8, dtype=torch.float32)
    first = shard_paths(tmp_path)
    kept = [path.read_bytes() for path in first]
    assert 300 <= made < 600
    assert make_text(pair, tmp_path, 300, 0, silent, never, rows=8) == made, "enough is there"
    more = make_text(pair, tmp_path, 700, 0, silent, never, rows=8, dtype=torch.float32)
    assert more >= 700
    assert [path.read_bytes() for path in shard_paths(tmp_path)[: len(first)]] == kept
    assert len(shard_paths(tmp_path)) > len(first)
    shard, (head, states) = read_shard(shard_paths(tmp_path)[-1]), read_head(tmp_path)
    assert len(shard.tokens) == len(shard.roles) == len(shard.hidden) == shard.starts[-1]
    assert len(head) == len(states)


def test_a_cancel_ends_it(pair: Pair, tmp_path: Path) -> None:
    with pytest.raises(Cancelled):
        make_text(pair, tmp_path, 10_000, 0, silent, lambda: True, rows=8, dtype=torch.float32)
    assert shard_paths(tmp_path) == []
