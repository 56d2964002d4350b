"""What every drafter must keep, on toys, through the engine: the text, the law, the seed, the limits.

Laws are exact (every outcome of every coin is visited), so these tests have no false alarms.
"""

from pathlib import Path

import pytest
import torch
from enumerating import Round, distance, emitted_law, outcomes, random_table, target_law
from toy_lanes import GREEDY, NAMES, VARIANTS, WARM, Bench, Knobs, drafted, finished, lane, metrics, toy, trained

from specdemo import drafters
from specdemo.config import SamplingConfig
from specdemo.core.events import RoundFinished
from specdemo.core.sampling import Coin, SeededCoin, Shaping
from specdemo.core.verify import verify
from specdemo.engine import speculative
from specdemo.models.toy import ToyAccess, fixed

every_drafter = pytest.mark.parametrize(("id", "knobs"), VARIANTS, ids=NAMES)
PROMPT = (1, 2, 3, 1, 2)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    access = toy()
    return Bench(access, trained(access, tmp_path_factory.mktemp("ngram") / "table.safetensors"))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Three ids and laws that depend on the whole context: small enough to visit every outcome."""
    access = ToyAccess(random_table(3, 1), random_table(3, 2), 3)
    return Bench(access, trained(access, tmp_path_factory.mktemp("ngram") / "small.safetensors"))


def test_variants_cover_the_registry() -> None:
    assert {id for id, _ in VARIANTS} == set(drafters.ids())


@every_drafter
@pytest.mark.parametrize("gamma", [1, 2, 4, 8])
def test_greedy_text_is_the_targets_own(bench: Bench, id: str, knobs: Knobs, gamma: int) -> None:
    golden = bench.golden(PROMPT, 60)
    assert len(set(golden)) >= 10, "a text of few ids would prove nothing"
    events = bench.events(id, knobs, PROMPT, gamma=gamma, new=60)
    assert finished(events).tokens == golden
    if id not in ("oracle", "random"):
        assert metrics(events).accepted, "never right would prove nothing"
        assert metrics(events).rejected, "never wrong would prove nothing"


@every_drafter
def test_greedy_text_with_an_end_token(bench: Bench, id: str, knobs: Knobs) -> None:
    golden = bench.golden(PROMPT, 60)
    end = next(token for i, token in enumerate(golden) if i > 20 and token not in golden[:i])
    assert (
        finished(bench.events(id, knobs, PROMPT, new=60, end_tokens=(end,))).tokens == golden[: golden.index(end) + 1]
    )


@every_drafter
@pytest.mark.parametrize("sampling", [WARM, SamplingConfig(temperature=0.7, top_p=0.8)], ids=["plain", "filtered"])
def test_joint_law_of_two_tokens(small: Bench, id: str, knobs: Knobs, sampling: SamplingConfig) -> None:
    """Each round with a fresh drafter and γ = 2: what is proposed is drawn from the q that is handed on."""
    shaping, prompt = Shaping(sampling), (0, 1, 2, 0, 1)
    expected = target_law(random_table(3, 1), shaping, prompt, 2)
    assert distance(emitted_law(one_round(small, id, knobs, shaping, gamma=2), prompt, 2), expected) < 1e-6


@every_drafter
def test_joint_law_of_a_whole_run(tmp_path: Path, id: str, knobs: Knobs) -> None:
    """Three tokens through the engine with one drafter, whose state after a rejection matters."""
    table, prompt = random_table(2, 1), (0, 1, 1, 0, 1)
    access = ToyAccess(table, random_table(2, 2), 2)
    tiny = Bench(access, trained(access, tmp_path / "tiny.safetensors"))

    def play(coin: Coin) -> tuple[int, ...]:
        return finished(tiny.events(id, knobs, prompt, gamma=2, new=3, sampling=WARM, coin=coin)).tokens

    assert distance(outcomes(play), target_law(table, Shaping(WARM), prompt, 3)) < 1e-6


@every_drafter
def test_law_of_the_first_token(tmp_path: Path, id: str, knobs: Knobs) -> None:
    """B04, B05: eight ids and a draft that disagrees. A proposal without a law is kept with the chance p(x)."""
    target = fixed(torch.tensor([1.0, 0.4, 0.9, 1.4, 0.2, 1.1, 0.6, 0.0]))
    access = ToyAccess(target, fixed(torch.tensor([1.4, 1.0, 0.1, 0.2, 1.0, 0.0, 0.0, 1.0])), 8)
    bench = Bench(access, trained(access, tmp_path / "eight.safetensors", order=2))
    shaping, prompt = Shaping(WARM), (3, 1, 3, 1)
    play = one_round(bench, id, knobs, shaping, gamma=1)
    p = target_law(target, shaping, prompt, 1)
    assert distance(emitted_law(play, prompt, 1), p) < 1e-6
    draft = bench.ready(id, knobs, shaping, prompt).propose(prompt, 1, SeededCoin(0))
    if draft.tokens and draft.laws is None:
        kept = sum(weight for block, weight in outcomes(lambda coin: play(prompt, coin)).items() if len(block) == 2)
        assert kept == pytest.approx(p[draft.tokens], abs=1e-6)


def one_round(bench: Bench, id: str, knobs: Knobs, shaping: Shaping, gamma: int) -> Round:
    """A round of a new drafter: propose, look up p, judge."""

    def play(context: tuple[int, ...], coin: Coin) -> tuple[int, ...]:
        draft = bench.ready(id, knobs, shaping, context).propose(context, gamma, coin)
        logits = bench.access.target().extend([*context, *draft.tokens], keep=len(draft.tokens) + 1).logits
        verdict = verify(draft, shaping.laws(logits, len(context)), coin)
        return (*draft.tokens[: verdict.accepted], verdict.token)

    return play


@every_drafter
@pytest.mark.parametrize("new", [1, 2, 3, 5])
def test_never_more_than_asked(bench: Bench, id: str, knobs: Knobs, new: int) -> None:
    """E05: the limit holds, and the last round drafts no more than can be used."""
    events = bench.events(id, knobs, (1, 2) * 8, gamma=9, new=new)
    assert len(finished(events).tokens) == new
    assert all(len(event.tokens) <= new - 1 for event in drafted(events))


@every_drafter
@pytest.mark.parametrize("gamma", [1, 3, 5, 7])
def test_never_more_than_gamma(bench: Bench, id: str, knobs: Knobs, gamma: int) -> None:
    """G01: γ reaches every drafter; a perfect one uses all of it."""
    lengths = [len(event.tokens) for event in drafted(bench.events(id, knobs, PROMPT, gamma=gamma, new=60))]
    assert max(lengths) == gamma or "min_draft" in knobs
    if id == "oracle":
        assert all(length == gamma for length in lengths[:-1])


@every_drafter
def test_a_seed_is_a_text(bench: Bench, id: str, knobs: Knobs) -> None:
    """G06: equal events for equal seeds with other runs between, and no global generator is touched."""
    state = torch.random.get_rng_state()

    def play(seed: int, prompt: tuple[int, ...] = PROMPT) -> list[object]:
        return list(bench.events(id, knobs, prompt, new=12, sampling=WARM, coin=SeededCoin(seed)))

    first = play(42)
    for other in range(4):
        play(other)
        assert play(42) == first
    assert any(play(42, (i, 2, i)) != play(43, (i, 2, i)) for i in range(10))
    assert torch.equal(torch.random.get_rng_state(), state)


@every_drafter
def test_rows_are_honest(bench: Bench, id: str, knobs: Knobs) -> None:
    """B06: the law drawn from is the law handed on, bit for bit, zeros aside; float32, rows summing to one."""

    class Watching(SeededCoin):
        def draw(self, law: torch.Tensor) -> int:
            drawn_from.append(law.clone())
            return super().draw(law)

        def pick(self, law: torch.Tensor) -> torch.Tensor:
            drawn_from.append(law.clone())
            return super().pick(law)

    drawn_from: list[torch.Tensor] = []
    draft = bench.ready(id, knobs, Shaping(WARM), PROMPT).propose(PROMPT, 4, Watching(0))
    if draft.laws is None:
        assert not drawn_from
        return
    assert draft.laws.dtype == torch.float32
    # A trained draft draws among the ids that it can say, in the same order.
    for handed_on, drawn in zip(draft.laws, drawn_from, strict=True):
        assert torch.equal(handed_on[handed_on > 0], drawn[drawn > 0])
    assert torch.allclose(draft.laws.sum(-1), torch.ones(4), atol=1e-6)


@every_drafter
def test_a_run_can_be_left_half_way(bench: Bench, id: str, knobs: Knobs) -> None:
    """The drafter is closed once, and the next run is not disturbed."""
    shaping = Shaping(GREEDY)
    events = speculative(
        bench.access.target(), bench.drafter(id, knobs, shaping), lane(shaping, PROMPT, 20, SeededCoin(0), 4)
    )
    next(event for event in events if isinstance(event, RoundFinished))
    events.close()
    assert finished(bench.events(id, knobs, PROMPT, new=20)).tokens == bench.golden(PROMPT, 20)
