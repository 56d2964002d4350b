"""Random models of given shapes: built as asked, raced at the acceptance that was dialled. No duration is asserted."""

import argparse
import json
import random
from dataclasses import replace

import pytest
import torch
from transformers import AutoModelForCausalLM

from specdemo.bench import command, dialled, shapes
from specdemo.bench.shapes import SHAPES, Shape
from specdemo.core.sampling import SeededCoin, one_hot
from specdemo.core.verify import Draft, Fate
from specdemo.errors import PairError, SettingError

TINY = Shape("llama", 97, 64, 96, 3, 4, 2, 16, True, 512)
DRAFT = Shape("qwen2", 97, 32, 48, 1, 2, 1, 16, True, 512)
PARAMETERS = {"smollm2-135m": 134.5, "smollm2-360m": 361.8, "smollm2-1.7b": 1711.4, "qwen2.5-0.5b": 494.0,
              "qwen2.5-1.5b": 1543.7, "qwen2.5-7b": 7615.6, "qwen3-0.6b": 596.0, "qwen3-4b": 4022.5,
              "llama-3.2-1b": 1235.8, "llama-3.1-8b": 8030.3}  # fmt: skip
"""Millions, as published."""


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_have_the_published_number_of_parameters(name: str) -> None:
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(SHAPES[name].config())
    model.tie_weights()
    assert sum(p.numel() for p in model.parameters()) / 1e6 == pytest.approx(PARAMETERS[name], abs=0.06)


@pytest.mark.parametrize("shape", [TINY, DRAFT, replace(TINY, kind="qwen3", tied=False)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_built_models_are_whole_finite_and_say_various_things(shape: Shape, dtype: torch.dtype) -> None:
    model, again = (shapes.build("tiny", shape, dtype, "cpu") for _ in range(2))
    assert {p.device.type for p in model.parameters()} == {"cpu"}
    assert (model.lm_head.weight.data_ptr() == model.model.embed_tokens.weight.data_ptr()) == shape.tied
    fresh = AutoModelForCausalLM.from_config(shape.config())
    assert torch.equal(model.model.rotary_emb.inv_freq, fresh.model.rotary_emb.inv_freq)
    ids = torch.arange(40)[None]
    with torch.inference_mode():
        logits = model(ids).logits
    assert bool(logits.isfinite().all())
    assert torch.equal(logits, again(ids).logits)
    assert len(set(logits[0].argmax(-1).tolist())) > 5


def test_a_shape_that_does_not_fit_is_refused_before_it_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "free_memory", lambda device: 10**9)
    with pytest.raises(PairError, match=r"qwen2.5-7b needs about .* MB of memory, but 1000 MB are free"):
        shapes.build("qwen2.5-7b", SHAPES["qwen2.5-7b"], torch.float32, "cpu")


def test_a_draft_may_be_written_by_its_size() -> None:
    assert shapes.names("qwen2.5-1.5b,0.5b") == ("qwen2.5-1.5b", "qwen2.5-0.5b")
    assert shapes.names("llama-3.1-8b, llama-3.2-1b") == ("llama-3.1-8b", "llama-3.2-1b")


@pytest.mark.parametrize("text", ["qwen2.5-1.5b", "qwen2.5-1.5b,9b", "", "a,b", "qwen2.5-1.5b,0.5b,0.5b"])
def test_unknown_shapes_are_refused(text: str) -> None:
    with pytest.raises(SettingError, match="smollm2-135m"):
        shapes.names(text)


@pytest.mark.parametrize("alpha", [0.0, 0.7, 1.0])
def test_the_rule_keeps_proposals_with_the_dialled_chance(alpha: float) -> None:
    """3,000 rounds of 4: the share kept of the tested is within 5 standard errors (false alarm 6e-7)."""
    rule = dialled.dialled(alpha, random.Random(0))
    draft = Draft((1, 2, 3, 4), one_hot(torch.tensor([1, 2, 3, 4]), 9))
    p = one_hot(torch.tensor([5, 5, 5, 5, 5]), 9)
    accepted = tested = 0
    for _ in range(3000):
        verdict = rule(draft, p, SeededCoin(0))
        accepted, tested = accepted + verdict.accepted, tested + len(verdict.tests)
        assert verdict.fate is (Fate.BONUS if verdict.accepted == 4 else Fate.RESAMPLED)
        assert verdict.token is not None
    assert abs(accepted / tested - alpha) <= 5 * (alpha * (1 - alpha) / tested) ** 0.5


def test_every_gamma_is_raced_against_the_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialled, "SHAPES", {"tiny": TINY, "draft": DRAFT})
    dials = dialled.Dials(alpha=0.8, max_new_tokens=24, context=10)
    steps = list(dialled.steps(("tiny", "draft"), torch.float32, "cpu", dials))
    assert sum(map(dialled.amount, steps)) == dialled.total(dials)
    found = dialled.report(dials, steps)
    assert found is not None
    assert [row.gamma for row in found.rows] == list(range(1, 9))
    assert all(row.tokens == 24 for row in found.rows)
    assert all(0.0 < (row.alpha or 0.0) <= 1.0 and (row.tau or 0.0) > 1.0 for row in found.rows)
    assert [n for n, _ in found.v] == list(range(1, 10))
    assert all(row.speedup and row.limit and row.over_limit and row.predicted > 0 for row in found.rows)
    assert found.waits == dialled.Waits(plain=1.0, drafted=1.0), "once a round, whatever γ"
    assert list(dialled.tables(found))


def test_what_broke_off_is_still_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialled, "SHAPES", {"tiny": TINY, "draft": DRAFT})
    dials = dialled.Dials(alpha=0.8, max_new_tokens=12, context=10)
    steps = list(dialled.steps(("tiny", "draft"), torch.float32, "cpu", dials))
    half = dialled.report(dials, steps[: len(steps) // 2])
    assert half is not None
    assert half.rows
    assert all(row.tokens <= 12 for row in half.rows)
    assert dialled.report(dials, steps[:1]) is None
    assert list(dialled.tables(dialled.report(dials, steps[:2])))  # type: ignore[arg-type]


def test_the_command_prints_one_object(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(shapes, "SHAPES", {"tiny-1": TINY, "tiny-0": DRAFT})
    monkeypatch.setattr(dialled, "SHAPES", shapes.SHAPES)
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    wanted = ["--shapes", "tiny-1,0", "--device", "cpu", "--max-new-tokens", "8", "--alpha", "0.5", "--json"]
    assert command.main(parser.parse_args(wanted)) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["complete"], found["shapes"], found["dials"]["alpha"]) == (True, ["tiny-1", "tiny-0"], 0.5)
    assert len(found["measured"]["rows"]) == 8
    with pytest.raises(SettingError, match="alpha"):
        command.main(parser.parse_args([*wanted, "--alpha", "1.5"]))
