"""The Llama family's own pass against transformers' pass: same equations, whatever the text and its pieces."""

from typing import Any

import pytest
import torch
from tiny_models import GATED, ROWS, tiny
from torch import Tensor
from transformers import AutoModelForCausalLM, LlamaConfig, PreTrainedConfig, Qwen2Config, Qwen3Config

from specdemo.errors import SettingError
from specdemo.models.attention import LONG
from specdemo.models.decoder import Decoder
from specdemo.models.hf_session import HFSession, first_layers
from specdemo.models.llama import BLOCK, belongs, llama
from specdemo.models.llama_session import LEAST, Eager, LlamaSession
from specdemo.models.packed import can_pack

PROMPT = [(7 * i * i + 3) % 250 for i in range(150)]
LIMIT = 2048

KINDS: dict[str, PreTrainedConfig] = {
    "llama": LlamaConfig(**GATED),
    "one key head for all": LlamaConfig(**GATED | {"num_key_value_heads": 1}),
    "a key head for each": LlamaConfig(**GATED | {"num_key_value_heads": 4}),
    "biases everywhere": LlamaConfig(**GATED, attention_bias=True, mlp_bias=True),
    "wide heads": LlamaConfig(**GATED, head_dim=24),
    "stretched rope": LlamaConfig(
        **GATED,
        rope_parameters={
            "rope_type": "llama3",
            "rope_theta": 1e4,
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64,
        },
    ),
    "yarn": LlamaConfig(**GATED, rope_parameters={"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0}),
    "tied": LlamaConfig(**GATED | {"tie_word_embeddings": True}),
    "qwen2": Qwen2Config(**GATED),
    "qwen3": Qwen3Config(**GATED, head_dim=16),
}


def made(config: PreTrainedConfig, dtype: torch.dtype = torch.float32) -> Any:
    """Random weights, norms and biases too: those that start as ones and zeros would hide a mistake."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = AutoModelForCausalLM.from_config(config).eval()
        for name, weight in model.named_parameters():
            if name.endswith(("norm.weight", "bias")):
                torch.nn.init.normal_(weight, mean=1.0 if "norm" in name else 0.0, std=0.3)
    return model.to(dtype)


def lean(model: Any, width: int = LEAST) -> LlamaSession:
    return LlamaSession(Eager(llama(model)), ROWS, LIMIT, width)


def close(a: Tensor, b: Tensor) -> bool:
    return float((a - b).abs().max()) < 1e-4 * float(b.abs().max())


@pytest.mark.parametrize("kind", KINDS)
def test_logits_and_hidden_states_are_those_of_transformers(kind: str) -> None:
    model = made(KINDS[kind])
    assert belongs(model)
    own, theirs = lean(model), HFSession(model, ROWS)
    for end, keep in ((100, 0), (101, 1), (107, 3), (150, 43)):
        a, b = own.extend(PROMPT[:end], keep), theirs.extend(PROMPT[:end], keep)
        assert a.logits.shape == (keep, ROWS)
        assert a.hidden is not None
        assert b.hidden is not None
        assert close(a.hidden, b.hidden)
        assert keep == 0 or close(a.logits, b.logits)


@pytest.mark.parametrize("kept", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 149])
def test_what_was_rolled_back_is_never_seen_again(kept: int) -> None:
    model = made(KINDS["llama"])
    session, fresh = lean(model), lean(model)
    session.extend(PROMPT, keep=0)
    session.rollback(kept)
    other = [*PROMPT[:kept], 5, 6, 7, 8, 9]
    fresh.extend(other[:kept], keep=0)
    assert close(session.extend(other, keep=5).logits, fresh.extend(other, keep=5).logits)


def test_a_padded_pass_says_what_an_unpadded_one_says() -> None:
    model = made(KINDS["llama"])
    for width in (2, 4, 8, 40):
        padded, plain = lean(model, width), lean(model, 1)
        for end in (63, 64, 66, 127, 129):
            a, b = padded.extend(PROMPT[:end], keep=1), plain.extend(PROMPT[:end], keep=1)
            assert a.hidden is not None
            assert len(a.hidden) == len(b.hidden if b.hidden is not None else ())
            assert close(a.logits, b.logits)


def test_the_last_position_can_be_used_though_a_pass_is_padded() -> None:
    model = made(LlamaConfig(**GATED, max_position_embeddings=70))
    session = LlamaSession(Eager(llama(model)), ROWS, 70, 8)
    session.extend(PROMPT[:69], keep=0)
    assert close(session.extend(PROMPT[:70], keep=1).logits, HFSession(model, ROWS).extend(PROMPT[:70], 1).logits)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("start", [60, LONG - 5])
def test_in_an_exact_session_a_token_has_the_same_bits_wherever_it_stands(dtype: torch.dtype, start: int) -> None:
    decoder, text = Decoder(made(KINDS["llama"], dtype)), PROMPT * 5
    blocks, steps = decoder.exact_session(ROWS), decoder.exact_session(ROWS)
    assert blocks is not None
    assert steps is not None
    for session in (blocks, steps):
        session.extend(text[:start], keep=0)
    together = [blocks.extend(text[: start + end], keep=n).logits for end, n in ((2, 2), (10, 8), (17, 7))]
    alone = [steps.extend(text[: n + 1], keep=1).logits for n in range(start, start + 17)]
    assert torch.equal(torch.cat(together), torch.cat(alone))


def test_the_first_layers_are_those_of_transformers() -> None:
    model = made(KINDS["qwen3"])
    cut = LlamaSession(Eager(llama(model).first(2)), ROWS, LIMIT)
    assert close(cut.extend(PROMPT, 5).logits, HFSession(first_layers(model, 2), ROWS).extend(PROMPT, 5).logits)
    for count in (0, 3):
        with pytest.raises(SettingError):
            llama(model).first(count)


@pytest.mark.parametrize(
    "config",
    [
        LlamaConfig(**GATED, hidden_act="gelu"),
        LlamaConfig(**GATED, rope_parameters={"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}),
        tiny("mistral").config,
        tiny("gpt2").config,
    ],
)
def test_other_equations_are_left_to_transformers(config: PreTrainedConfig) -> None:
    model = made(config)
    assert not belongs(model)
    assert Decoder(model).path == ("packed" if can_pack(torch.float32) else "plain")
    assert Decoder(model).exact_session(ROWS) is None


def test_a_family_member_that_computes_otherwise_is_left_to_transformers() -> None:
    """One that calls itself a Llama but is none: its own pass would give another text."""
    model = made(KINDS["llama"])
    assert Decoder(model).path == "lean"
    model.model.layers[1].register_forward_hook(lambda layer, inputs, out: out * 1.5)
    assert Decoder(model).path != "lean"
