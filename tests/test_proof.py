"""Greedy output equals the target's own, token for token: every drafter, every γ, in float32 and in exact bfloat16.

`make proof` runs the whole; the tests keep a cut of it.
"""

from dataclasses import replace

import pytest
from tiny_models import save, tiny

from specdemo import lanes, prompts
from specdemo.config import RunConfig
from specdemo.core.result import collect
from specdemo.models.loader import load_pair

GAMMAS = (1, 2, 4, 8)
ALONE = (
    "tiny-model",
    "feature-head",
    "hybrid",
    "ngram",
    "prompt-lookup",
    "quantised",
    "layer-skip",
    "oracle",
    "random",
    "dial-alpha",
)
"""Drafters that need no second model."""
KINDS = ("llama", "gpt2", "qwen2")


def shallow(kind: str):
    """A weaker relative: the same seed with one layer."""
    one_layer = {"num_hidden_layers": 1} | ({"layer_types": ["full_attention"]} if kind == "qwen2" else {})
    return tiny(kind, **one_layer)


def differing(pair, prompt: str, tokens: int, drafters, knobs=(), gammas=GAMMAS, exact=False) -> list[str]:
    """The lanes whose greedy text is not the baseline's."""
    plain = RunConfig(prompt=prompt, drafter="none", gamma=0, max_new_tokens=tokens, exact=exact)
    configs = {"baseline": plain}
    for drafter in drafters:
        for gamma in gammas:
            given = knobs if drafter == "layer-skip" else ()
            configs[f"{drafter} γ{gamma}"] = replace(plain, drafter=drafter, gamma=gamma, knobs=given)
    done = collect(lanes.open_race(pair, configs)).lanes
    golden = done["baseline"].tokens
    assert len(set(golden)) >= 10, "a text that repeats itself proves nothing"
    return [name for name, lane in done.items() if lane.tokens != golden]


@pytest.mark.parametrize("kind", KINDS)
def test_tiny_models_of_three_architectures(kind, tmp_path):
    drafters = ("model", "prompt-lookup", "layer-skip", "oracle", "random", "dial-alpha")
    target, draft = save(tmp_path / "target", tiny(kind)), save(tmp_path / "draft", shallow(kind))
    pair = load_pair(f"{target},{draft}", dtype="float32")
    assert differing(pair, "the cat sat on the mat", 40, drafters, knobs=(("layers", "2"),)) == []


@pytest.mark.real
@pytest.mark.parametrize("prompt", [prompts.hero(), prompts.foil()], ids=lambda prompt: prompt.id)
def test_the_real_model(real_pair, prompt):
    assert differing(real_pair, prompt.text, 24, ALONE) == []


@pytest.mark.real
@pytest.mark.parametrize("prompt", [prompts.hero(), prompts.foil()], ids=lambda prompt: prompt.id)
def test_the_real_model_in_exact_bfloat16(real_pair_in_bfloat16, prompt):
    drafters = ("prompt-lookup", "layer-skip", "random", "oracle")
    assert differing(real_pair_in_bfloat16, prompt.text, 24, drafters, gammas=(1, 4, 7), exact=True) == []


@pytest.mark.real
@pytest.mark.proof
@pytest.mark.parametrize("prompt", prompts.load_prompts()[::4], ids=lambda prompt: prompt.id)
def test_the_real_model_at_length(real_pair, prompt):
    assert differing(real_pair, prompt.text, 64, ALONE) == []
