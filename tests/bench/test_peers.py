"""Ours and transformers' `generate` beside each other on a tiny random Llama. No assertion depends on a duration."""

import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import torch
from toypair import ToyText
from transformers import LlamaConfig, LlamaForCausalLM

from specdemo import lanes
from specdemo.bench import limits, peer_methods, peer_report, peers
from specdemo.bench.floor import Floor
from specdemo.bench.peer_methods import AnyArchitecture, Method
from specdemo.bench.peers import OURS, THEIRS, Decoded, PeerRow
from specdemo.bench.plan import Choice, Plan
from specdemo.costs import Costs
from specdemo.models.hf_session import HFSession, first_layers
from specdemo.models.packed import PackedLinear, can_pack
from specdemo.prompts import Prompt

VOCABULARY = 60


class TinyPair:
    """A pair over a Llama of four layers whose greedy text is varied (default weights would repeat one token)."""

    dtype, device, limit, path = "float32", "cpu", 2048, "lean"
    end_tokens = (VOCABULARY - 1,)
    vocabulary = VOCABULARY
    name = target_name = "tiny"
    clock = staticmethod(time.perf_counter)
    text = ToyText()

    def __init__(self) -> None:
        torch.manual_seed(0)
        sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 4, "num_attention_heads": 2}
        config = LlamaConfig(
            vocab_size=VOCABULARY, **sizes, num_key_value_heads=2, initializer_range=0.4, tie_word_embeddings=False
        )
        self.model = LlamaForCausalLM(config).eval()
        self.draft_model = LlamaForCausalLM(config).eval()

    def target(self) -> HFSession:
        return HFSession(self.model, VOCABULARY)

    def draft(self) -> HFSession:
        return HFSession(self.draft_model, VOCABULARY)

    def prefix(self, layers: int) -> HFSession:
        return HFSession(first_layers(self.model, layers), VOCABULARY)

    def recorded(self, draw: object) -> None:
        return None

    def require_rollback(self) -> None:
        pass


@pytest.fixture(scope="module")
def pair() -> Iterator[TinyPair]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # matrices this small only suffer from more
    yield TinyPair()
    torch.set_num_threads(threads)


def test_all_methods_of_both_systems_give_the_same_text(pair: TinyPair) -> None:
    prompts = (Prompt("a", "copy", "1 2 3 4 1 2 3"),)
    plan = Plan(prompts, (Choice("prompt-lookup"),), gammas=(3,), max_new_tokens=24, repeat=2)
    ways = peer_methods.methods_for(pair, plan.gammas, layers=2)
    names = ["plain decoding", "plain decoding, any architecture", "prompt lookup γ3", "first 2 layers γ3"]
    assert [way.name for way in ways] == [*names, "draft model γ3"]
    rows = list(peers.compare(pair, plan, ways))
    assert len(rows) == 2 * len(ways) * 2
    assert all(row.identical and row.tokens > 10 for row in rows)
    assert [row.system for row in rows[:4]] == [OURS, THEIRS] * 2
    assert [row.system for row in rows[10:12]] == [THEIRS, OURS]
    assert all((row.limit_s is not None) == (row.over_limit is not None) == (row.system == OURS) for row in rows)
    summaries = peer_report.summarise(rows)
    assert all(summary.over_limit is not None for summary in summaries)
    shares = peer_report.floor_shares(summaries, Floor(10**6, 10**9, 0.001))
    assert [one.method for one in shares] == names[:2]
    assert all(one.share == pytest.approx(0.001 / one.step_s) for one in shares)
    text = peers.theirs(pair, ways[0], ways[0].config(prompts[0], 24, raw=False)).tokens
    assert len(set(text)) >= 10


def test_methods_are_those_that_make_sense_for_the_pair(pair: TinyPair) -> None:
    alone = SimpleNamespace(draft_model=None, path="packed", model=pair.model)
    assert [way.drafter for way in peer_methods.methods_for(alone, (5,), 10)] == ["none", "prompt-lookup", "layer-skip"]
    padded = SimpleNamespace(config=SimpleNamespace(vocab_size=VOCABULARY + 4))
    other = SimpleNamespace(draft_model=padded, path="lean", model=pair.model)
    assert "model" not in [way.drafter for way in peer_methods.methods_for(other, (5,), 10)]


def test_any_architecture_is_the_same_text_by_the_pass_of_transformers(pair: TinyPair) -> None:
    generic = AnyArchitecture(pair)
    session = generic.target()
    assert isinstance(session, HFSession)
    assert any(isinstance(part, PackedLinear) for part in session._model.modules()) == can_pack(torch.float32)
    assert generic.end_tokens == pair.end_tokens


def test_assisted_generation_drafts_with_the_pairs_draft_at_a_constant_gamma(
    pair: TinyPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[object, int, str, float]] = []
    generate = pair.model.generate

    def spy(assistant_model: object, **options: object):  # type: ignore[no-untyped-def]
        c = pair.draft_model.generation_config
        seen.append((assistant_model, c.num_assistant_tokens, c.num_assistant_tokens_schedule,
                     c.assistant_confidence_threshold))  # fmt: skip
        return generate(assistant_model=assistant_model, **options)

    monkeypatch.setattr(pair.model, "generate", spy)
    before = pair.draft_model.generation_config.to_dict()
    way = Method("draft model γ3", "model", 3)
    config = way.config(Prompt("a", "copy", "1 2 3"), 12, raw=False)
    their, our = peers.theirs(pair, way, config), peers.ours(pair, way, config)
    assert seen == [(pair.draft_model, 3, "constant", 0.0)]
    assert pair.draft_model.generation_config.to_dict() == before
    assert our.tokens == their.tokens
    assert max(width for _, width in our.rounds) == 4
    assert sum(count for _, count in our.deliveries) == len(our.tokens)


def test_limit_adds_up_the_passes_of_the_rounds_behind_the_middle_of_the_run(
    pair: TinyPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, tuple[int, ...]]] = []

    def measured(pair, config, widths, context):  # type: ignore[no-untyped-def]
        asked.append((len(context), tuple(widths)))
        return Costs(((1, 10.0), (4, 13.0)), 2.0)

    monkeypatch.setattr(lanes, "costs_of", measured)
    config = Method("m").config(Prompt("a", "copy", "1 2 3"), 8, raw=False)
    assert limits.limit(pair, config, (5,) * 8, [(3, 4), (0, 1)]) == pytest.approx(3 * 2 + 13 + 10)
    assert asked == [(3 + 4, (1, 4))]
    assert limits.limit(pair, config, (5,), []) is None


def test_wall_time_and_limit_leave_out_the_same_round(pair: TinyPair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "limit", lambda pair, config, tokens, rounds: float(len(rounds)) or None)
    plan = Plan((Prompt("a", "copy", "1 2 3"),), (Choice("prompt-lookup"),), max_new_tokens=9, repeat=1)
    our, their = peers.compare(pair, plan, [Method("plain")])
    assert our.limit_s == our.rest == our.tokens - 1 > 5
    assert (their.limit_s, their.over_limit) == (None, None)
    decoded = Decoded((1, 2, 3), ((2.0, 1), (3.0, 1), (4.1, 1)))
    row = peers.row(OURS, Method("m"), Prompt("a", "copy", "1"), 0, decoded, (1, 2, 3), limit_s=2.0)
    assert row.over_limit == pytest.approx(1.05)


def test_where_texts_part_is_said_once_and_fails_nothing() -> None:
    decoded = Decoded((1, 2, 4), ((2.0, 1), (3.0, 2)))
    rows = [peers.row(THEIRS, Method("m"), Prompt("a", "copy", "1"), i, decoded, (1, 2, 3), gap=0.03) for i in (0, 1)]
    (line,) = peer_report.partings(rows)
    assert "on a" in line
    assert "token 2" in line
    assert "0.030" in line


def test_early_exit_gets_the_layers_and_gamma_asked_for(pair: TinyPair, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[SimpleNamespace] = []
    generate = pair.model.generate

    def spy(**options: object):  # type: ignore[no-untyped-def]
        c = pair.model.generation_config
        seen.append(SimpleNamespace(options=options, gamma=c.num_assistant_tokens,
                                    schedule=c.num_assistant_tokens_schedule,
                                    threshold=c.assistant_confidence_threshold))  # fmt: skip
        return generate(**options)

    monkeypatch.setattr(pair.model, "generate", spy)
    before = pair.model.generation_config.to_dict()
    way = Method("exit", "layer-skip", 3, layers=2)
    peers.theirs(pair, way, way.config(Prompt("a", "copy", "1 2 3"), 12, raw=False))
    assert (seen[0].gamma, seen[0].schedule, seen[0].threshold) == (3, "constant", 0.0)
    assert seen[0].options["assistant_early_exit"] == 2
    assert pair.model.generation_config.to_dict() == before
    assert pair.model.config.num_hidden_layers == 4


def test_row_leaves_the_first_tokens_out_of_the_decoding_rate() -> None:
    decoded = Decoded((1, 2, 3, 4, 5, 6), ((2.0, 2), (3.0, 1), (4.0, 3)))
    row = peers.row(OURS, Method("m"), Prompt("a", "copy", "1"), 0, decoded, (1, 2, 3, 9, 5, 6))
    assert (row.tokens, row.rest, row.first_s, row.total_s) == (6, 4, 2.0, 4.0)
    assert row.tokens_per_s == pytest.approx(2.0)
    assert row.end_to_end == pytest.approx(1.5)
    assert (row.identical, row.divergence) == (False, 3)


def test_a_run_of_one_delivery_has_no_decoding_rate() -> None:
    row = peers.row(OURS, Method("m"), Prompt("a", "copy", "1"), 0, Decoded((1, 2), ((2.0, 2),)), (1, 2))
    assert row.tokens_per_s is None
    assert row.identical


def peer(system: str, rate: float, prompt: str = "a", repeat: int = 0, group: str = "copy") -> PeerRow:
    same = system == THEIRS
    return PeerRow(system, "m", prompt, group, repeat, 10, 9, 1.0, 2.0, rate, rate / 2, same, None, None, None, None)


def test_summary_has_medians_spread_and_the_median_of_paired_ratios() -> None:
    rows = [peer(OURS, 30), peer(THEIRS, 10), peer(OURS, 10, repeat=1), peer(THEIRS, 10, repeat=1),
            peer(OURS, 40, "b", group="code"), peer(THEIRS, 20, "b", group="code")]  # fmt: skip
    whole, copy, code = peer_report.summarise(rows)
    assert (whole.group, copy.group, code.group) == ("all", "copy", "code")
    assert whole.ours == peer_report.Speed(30, 10, 40)
    assert whole.theirs == peer_report.Speed(10, 10, 20)
    assert (whole.times, copy.times, code.times) == (2.0, 2.0, 2.0)
    assert (whole.runs, whole.ours_identical, whole.theirs_identical) == (3, 0, 3)


def test_half_of_a_pair_counts_for_no_ratio() -> None:
    (whole,) = peer_report.summarise([peer(OURS, 30)])
    assert (whole.times, whole.theirs, whole.runs) == (None, None, 0)
    assert list(peer_report.tables((whole,)))
