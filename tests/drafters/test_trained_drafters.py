"""Drafters over trained nets: their own caches, the target's states, and the rule of the hybrid."""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from tiny_models import ROWS, tiny
from toy_drafts import SHAPE, random_file, random_weights
from toy_lanes import GREEDY, WARM, Bench, Knobs, finished, lane, metrics, toy

from specdemo.config import SamplingConfig
from specdemo.core import rules
from specdemo.core.protocols import Pass, Tables
from specdemo.core.rules.shared_noise import NoiseCoin, exponential_noise
from specdemo.core.sampling import Coin, SeededCoin, Shaping
from specdemo.core.verify import Draft, Fate, Verdict
from specdemo.costs import measure_costs
from specdemo.distill.nets import FeatureHead as TrainedHead
from specdemo.distill.nets import TinyModel, causal, weights
from specdemo.drafters.draft_file import FEATURE_HEAD, TINY_MODEL, Weights
from specdemo.drafters.draft_net import DraftNet
from specdemo.drafters.feature_head import FeatureHead, FeatureSession
from specdemo.drafters.hybrid import kept
from specdemo.drafters.registry import Setup
from specdemo.drafters.tiny_model import TinySession
from specdemo.engine import speculative
from specdemo.errors import PairError
from specdemo.models.hf_session import HFSession
from specdemo.models.norm import norm
from specdemo.models.packed import linear
from specdemo.models.toy import ToyAccess

PROMPT = (1, 2, 3, 1, 2)
TRAINED: tuple[tuple[str, Knobs], ...] = (
    ("tiny-model", {}),
    ("feature-head", {}),
    ("hybrid", {"min_n": 2, "copy": 8, "head_most": 8, "sure": 0}),
)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(toy(), tmp_path / "none")


@pytest.mark.parametrize(("id", "knobs"), TRAINED, ids=[id for id, _ in TRAINED])
@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "warm"])
def test_history_leaves_nothing_behind(bench: Bench, id: str, knobs: Knobs, sampling: SamplingConfig) -> None:
    """In every round of a run with many rejections the proposal is a fresh drafter's: tokens, and laws to 1e-5."""
    compared = Compared(bench, id, knobs, Shaping(sampling))
    run = lane(Shaping(sampling), PROMPT, 40, SeededCoin(0), gamma=3)
    events = list(speculative(bench.access.target(), compared, run))
    assert metrics(events).rejected > 10
    assert compared.rounds > 10


@pytest.mark.parametrize("rule", rules.entries(), ids=lambda rule: rule.id)
@pytest.mark.parametrize(("id", "knobs"), TRAINED, ids=[id for id, _ in TRAINED])
def test_nor_does_any_rule(bench: Bench, id: str, knobs: Knobs, rule: rules.Entry) -> None:
    """Also one that leaves out the token behind a whole draft (here of one guess), which is then fed again."""
    compared = Compared(bench, id, knobs, Shaping(WARM))
    run = replace(lane(Shaping(WARM), PROMPT, 40, rule.coin(0), gamma=1), rule=rule.judge)
    list(speculative(bench.access.target(), compared, run))
    assert compared.rounds > 10


class Compared:
    """A drafter each of whose proposals must be that of a fresh one."""

    def __init__(self, bench: Bench, id: str, knobs: Knobs, shaping: Shaping) -> None:
        self._drafter = bench.drafter(id, knobs, shaping)
        self._fresh = partial(bench.ready, id, knobs, shaping)
        self.prefill, self.observe, self.close = self._drafter.prefill, self._drafter.observe, self._drafter.close
        self.rounds = 0

    def propose(self, tokens: Sequence[int], gamma: int, coin: Coin) -> Draft:
        found, fresh = (
            one.propose(tokens, gamma, SeededCoin(len(tokens))) for one in (self._drafter, self._fresh(tokens))
        )
        assert found.tokens == fresh.tokens
        if found.laws is not None and fresh.laws is not None:
            assert torch.allclose(found.laws, fresh.laws, atol=1e-5)
        self.rounds += 1
        return found


@pytest.mark.parametrize("id", ["tiny-model", "feature-head"])
def test_a_shared_number_belongs_to_an_id(bench: Bench, id: str) -> None:
    """Not to a column among the ids that the draft can say: the target draws with the same numbers over all."""
    draft = bench.ready(id, {}, Shaping(WARM), PROMPT).propose(PROMPT, 4, NoiseCoin(seed=7))
    assert draft.laws is not None
    noise = [exponential_noise(7, position, bench.access.vocabulary) for position in range(4)]
    assert draft.tokens == tuple(int((e / q.double()).argmin()) for e, q in zip(noise, draft.laws, strict=True))


def test_the_cost_of_a_step_of_the_hybrid_is_the_head_s(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy costs nothing; timed at that, goodput would think that guesses are free."""
    now, read = [0.0], FeatureSession.extend

    def slow(self: FeatureSession, tokens: Sequence[int], keep: int) -> Pass:
        now[0] += 1.0
        return read(self, tokens, keep)

    monkeypatch.setattr(FeatureSession, "extend", slow)
    for knobs in ({}, {"sure": 0}):
        drafter = bench.drafter("hybrid", knobs, Shaping(GREEDY))
        assert measure_costs(bench.access.target(), drafter, PROMPT, lambda: now[0], widths=(1, 2)).t_draft == 1.0


# --- the running net is the trained net (D02) -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def target() -> HFSession:
    return HFSession(tiny("llama", seed=3), ROWS)


def tables(model: object) -> Tables:
    rows = [table().weight.detach() for table in (model.get_input_embeddings, model.get_output_embeddings)]  # type: ignore[attr-defined]
    return Tables(rows[0], rows[1], linear, norm)


def states(session: HFSession, tokens: Sequence[int]) -> torch.Tensor:
    session.rollback(0)
    hidden = session.extend(tokens, keep=0).hidden
    assert hidden is not None
    return hidden.clone()


def trained_features(
    net: TrainedHead | TinyModel, tokens: Sequence[int], hidden: torch.Tensor, steps: int
) -> list[torch.Tensor]:
    """What training computes for a sequence, `[T, H]` for each unrolled step."""
    count = len(tokens)
    before = torch.cat([torch.zeros(1, hidden.shape[1]), hidden[: count - 1]])[None]
    embedded = MODEL.get_input_embeddings().weight[torch.tensor(tokens)][None]
    with torch.no_grad():
        found = net.features(embedded, before, torch.arange(count)[None], causal(torch.zeros(1, count)), steps)
    return [feature[0] for feature in found]


MODEL = tiny("llama", seed=3)
TOKENS = tuple((7 * i * i + 3 * i) % ROWS for i in range(20))


def test_unrolled_steps_are_those_of_training(target: HFSession) -> None:
    """D02: at each depth the running head gives the logits of the net in training; also after a rejection."""
    net = TrainedHead(MODEL, (2,))
    with torch.no_grad():
        net.join.add_(torch.randn(net.join.shape, generator=torch.Generator().manual_seed(0)) * 0.3)
    hidden, known = states(target, TOKENS), 12
    unrolled = trained_features(net, TOKENS, hidden, steps=4)
    made = weights(net, torch.arange(ROWS), ROWS, {})
    session = FeatureSession(DraftNet(made, tables(MODEL)))
    session.learn(hidden[: known - 1])
    for wrong_turn in (True, False):
        for depth in range(4):
            # The row at token known − 1 + depth reads a state guessed `depth` rows before it.
            logits = session.extend(TOKENS[: known + depth], keep=1).logits[0]
            expected = unrolled[depth][known - 1 + depth] @ tables(MODEL).head.T
            assert torch.allclose(logits, expected, atol=1e-3), depth
        if wrong_turn:  # two of the four turned out right: their states come, the rest is forgotten
            session.learn(hidden[known - 1 : known + 2])
            known += 3


def test_the_tiny_model_is_the_net_of_training(target: HFSession) -> None:
    net = TinyModel(MODEL, (0, 2))
    feature = trained_features(net, TOKENS, states(target, TOKENS), steps=1)[0]
    session = TinySession(DraftNet(weights(net, torch.arange(ROWS), ROWS, {}), tables(MODEL)))
    session.extend(TOKENS[:7], keep=0)
    session.extend((*TOKENS[:7], 9, 9), keep=1)
    session.rollback(7)
    logits = session.extend(TOKENS, keep=5).logits
    assert torch.allclose(logits, feature[-5:] @ tables(MODEL).head.T, atol=1e-3)


def perfect() -> tuple[object, Weights]:
    """A target of one layer whose input rows are equally long, and the head that computes what it does."""
    model = tiny("llama", seed=5, num_hidden_layers=1)
    table = model.get_input_embeddings().weight
    with torch.no_grad():
        table.div_(table.pow(2).mean(-1, keepdim=True).sqrt())
    net = TrainedHead(model, (0,))
    with torch.no_grad():
        net.join.copy_(torch.cat([torch.eye(64), torch.zeros(64, 64)], 1))
    return model, weights(net, torch.arange(ROWS), ROWS, {})


@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "warm"])
def test_a_perfect_head_is_right_at_every_place(sampling: SamplingConfig) -> None:
    """D02's oracle: [1, 1, 1, 1] places."""
    model, made = perfect()
    session = HFSession(model, ROWS)
    shaping = Shaping(sampling)
    setup = Setup(ToyAccess(lambda c: torch.zeros(ROWS), lambda c: torch.zeros(ROWS), ROWS), shaping, {})
    drafter = FeatureHead(FeatureSession(DraftNet(made, tables(model))), setup)
    events = list(speculative(session, drafter, lane(shaping, (1, 5, 9), 41, SeededCoin(0), gamma=4)))
    found = metrics(events)
    assert found.position_tested[:4] == found.position_accepted[:4] == (8, 8, 8, 8)
    assert len({*finished(events).tokens}) >= 5


def test_good_files_propose_different_things(bench: Bench) -> None:
    """D01: what a draft proposes depends on what it is fed."""
    for id, knobs in TRAINED:
        said = {
            bench.ready(id, knobs, Shaping(GREEDY), (i, i + 1, i + 2))
            .propose((i, i + 1, i + 2), 3, SeededCoin(0))
            .tokens
            for i in range(10)
        }
        assert len(said) >= 4, id


# --- laws, limits, refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", ["tiny-model", "feature-head"])
def test_the_law_is_over_the_whole_vocabulary(bench: Bench, id: str) -> None:
    """Zero at the id that the draft never says, and nowhere else at temperature 1."""
    laws = bench.ready(id, {}, Shaping(WARM), PROMPT).propose(PROMPT, 3, SeededCoin(0)).laws
    assert laws is not None
    assert laws.shape == (3, bench.access.vocabulary)
    assert bool((laws[:, 0] == 0).all())
    assert bool((laws[:, 1:] > 0).all())


@pytest.mark.parametrize("id", ["tiny-model", "feature-head"])
def test_an_end_token_that_must_wait_has_no_mass_until_then(bench: Bench, id: str) -> None:
    """The id itself, not the column that it has among the ids that the draft can say."""
    end, free = 5, bench.ready(id, {}, Shaping(WARM), PROMPT).propose(PROMPT, 3, SeededCoin(0)).laws
    shaping = Shaping(WARM, end_tokens=(end,), first_end=len(PROMPT) + 2)
    laws = bench.ready(id, {}, shaping, PROMPT).propose(PROMPT, 3, SeededCoin(0)).laws
    assert laws is not None
    assert free is not None
    assert laws[:, end].tolist()[:2] == [0, 0]
    assert laws[2, end] > 0
    others = [token for token in range(bench.access.vocabulary) if token != end]
    assert torch.allclose(laws[0, others], free[0, others] / (1 - free[0, end]), atol=1e-6)


@pytest.mark.parametrize("kind", [TINY_MODEL, FEATURE_HEAD])
def test_runs_share_the_matrices_and_no_sequence(bench: Bench, tmp_path: Path, kind: str) -> None:
    """Read and made ready once for a target that keeps its tables; a file that was written anew is read anew."""
    tables = bench.access.tables()
    bench.access.tables = lambda: tables  # type: ignore[method-assign]
    path = random_file(kind, bench.access.vocabulary, tmp_path)
    one, other = (DraftNet.of(path, kind, bench.access) for _ in range(2))
    assert one._layers is other._layers
    first = one.read(one.embedded(torch.tensor([1, 2, 3])))
    assert (len(one), len(other)) == (3, 0)
    assert torch.equal(other.read(other.embedded(torch.tensor([1, 2, 3]))), first)
    os.utime(path, ns=(1, 1))
    assert DraftNet.of(path, kind, bench.access)._layers is not one._layers


def test_a_target_without_states_is_refused() -> None:
    setup = Setup(toy(), Shaping(GREEDY), {})
    made = random_weights(FEATURE_HEAD, 24)
    embedding = torch.randn(24, SHAPE.width, generator=torch.Generator().manual_seed(0))
    head = FeatureHead(FeatureSession(DraftNet(made, Tables(embedding, embedding, linear, norm))), setup)
    with pytest.raises(PairError):
        head.prefill(PROMPT, None)


def test_a_missing_file_is_refused_with_the_command(bench: Bench) -> None:
    for id in ("tiny-model", "feature-head", "hybrid"):
        with pytest.raises(PairError) as refused:
            bench.drafter(id, {"file": "/no/such/file"}, Shaping(GREEDY))
        assert "distill" in str(refused.value)


# --- hybrid -----------------------------------------------------------------------------------------------------------


def test_hybrid_copies_where_it_can_and_asks_the_head_elsewhere(bench: Bench) -> None:
    """`source` says who spoke: a round of lookup is one with a match of min_n ids."""
    hybrid = bench.ready(
        "hybrid",
        {"min_n": 3, "copy": 2, "head_most": 2, "sure": 0},
        Shaping(GREEDY),
        (1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3),
    )
    copied = hybrid.propose((1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3), 8, SeededCoin(0))
    assert copied.source == "lookup at 0 (n=3)"
    assert copied.tokens == (4, 5, 6, 7, 8, 9), "two per matched id"
    guessed = bench.ready("hybrid", {"head_most": 2, "sure": 0}, Shaping(GREEDY), (5, 7, 9, 11)).propose(
        (5, 7, 9, 11), 8, SeededCoin(0)
    )
    assert guessed.source == "feature head"
    assert len(guessed.tokens) == 2


def test_hybrid_head_stays_in_step_through_rounds_of_lookup(bench: Bench) -> None:
    """States of copied ids reach the head: after such a round its guesses are a fresh head's."""
    tokens = [1, 2, 3, 4, 1, 2]
    knobs: Knobs = {"min_n": 2, "copy": 1, "head_most": 4, "sure": 0}
    hybrid = bench.ready("hybrid", knobs, Shaping(GREEDY), tokens)
    session = bench.access.target()
    session.extend(tokens[:-1], keep=0)
    copied = hybrid.propose(tokens, 2, SeededCoin(0)).tokens
    assert copied == (3, 4)
    hidden = session.extend([*tokens, *copied], keep=3).hidden
    tokens += [3, 7]
    session.rollback(len(tokens) - 1)
    hybrid.observe(tokens, Verdict(1, 7, Fate.RESAMPLED, ()), hidden)
    fresh = bench.ready("hybrid", knobs, Shaping(GREEDY), tokens)
    found = [drafter.propose(tokens, 4, SeededCoin(0)) for drafter in (hybrid, fresh)]
    assert found[0].source == "feature head"
    assert found[0].tokens == found[1].tokens


def test_the_head_stops_when_its_draft_is_hardly_right(bench: Bench) -> None:
    """The chance of the whole draft decides, before it falls below `sure` and never after the token was seen."""
    prompt = (5, 7, 9, 11)

    def length(sure: float) -> int:
        return len(
            bench.ready("hybrid", {"sure": sure, "head_most": 8}, Shaping(GREEDY), prompt)
            .propose(prompt, 8, SeededCoin(0))
            .tokens
        )

    assert length(1.0) == 1
    assert length(0.0) == 8
    lengths = [length(sure / 100) for sure in range(0, 101, 5)]
    assert lengths == sorted(lengths, reverse=True)
    assert len({*lengths}) > 2


def test_the_chance_to_be_kept_falls_with_heat_where_the_head_is_sure() -> None:
    """At temperature 0 it is the confidence itself; at 1 even a sure head can be wrong, and a vague one right."""
    assert [kept(c / 10, 0.0) for c in range(11)] == [c / 10 for c in range(11)]
    assert kept(0.95, 1.0) < 0.95
    assert kept(0.1, 1.0) > 0.1
    assert all(0 <= kept(c / 10, h / 10) <= 1 for c in range(11) for h in range(11))
