"""Ours and transformers' `generate` beside each other on a tiny random Llama. No assertion depends on a duration."""

import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import torch
from toypair import ToyText
from transformers import LlamaConfig, LlamaForCausalLM

from specdemo.bench import peer_report, peers
from specdemo.bench.peers import OURS, THEIRS, Decoded, Method, PeerRow
from specdemo.bench.plan import Choice, Plan
from specdemo.models.hf_session import HFSession, first_layers
from specdemo.prompts import Prompt

VOCABULARY = 60


class TinyPair:
    """A pair over a Llama of four layers whose greedy text is varied (default weights would repeat one token)."""

    dtype, device, limit = "float32", "cpu", 2048
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

    def target(self) -> HFSession:
        return HFSession(self.model, VOCABULARY)

    def prefix(self, layers: int) -> HFSession:
        return HFSession(first_layers(self.model, layers), VOCABULARY)

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
    ways = peers.methods(plan.gammas, layers=2)
    rows = list(peers.compare(pair, plan, ways))
    assert len(rows) == 2 * len(ways) * 2
    assert all(row.identical and row.tokens > 10 for row in rows)
    assert [row.system for row in rows[:4]] == [OURS, THEIRS] * 2
    assert [row.system for row in rows[6:8]] == [THEIRS, OURS]
    text = peers.theirs(pair, ways[0], ways[0].config(prompts[0], 24, raw=False)).tokens
    assert len(set(text)) >= 10


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
    return PeerRow(system, "m", prompt, group, repeat, 10, 9, 1.0, 2.0, rate, rate / 2, system == THEIRS, None)


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
