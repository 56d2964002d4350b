"""The settings as code: what other programs would really read."""

import ast
import json
import shlex

import pytest

from specdemo import lanes
from specdemo.config import RunConfig, SamplingConfig
from specdemo.core.result import collect
from specdemo.models.folders import models_dir
from specdemo.models.loader import Pair
from specdemo.ui.snippets import HUB_TWIN, snippets

PROMPT = 'It\'s "quoted" $(rm -rf) `x` \\ {y}\nand </script>'


def made(**settings: object) -> tuple[str, str]:
    transformers, vllm = snippets(RunConfig(prompt=PROMPT, **settings))
    return transformers.code, vllm.code


def generate_call(code: str) -> dict[str, object]:
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    call = next(node for node in calls if isinstance(node.func, ast.Attribute) and node.func.attr == "generate")
    return {
        word.arg: ast.literal_eval(word.value)
        for word in call.keywords
        if word.arg and not isinstance(word.value, ast.Name)
    }


def served(code: str) -> dict[str, object] | None:
    words = shlex.split(code.split("\n\n")[0].replace("\\\n", " "))
    assert words[:2] == ["vllm", "serve"]
    return json.loads(words[words.index("--speculative-config") + 1]) if "--speculative-config" in words else None


def asked(code: str) -> dict[str, object]:
    words = shlex.split(code.split("\n\n")[1])
    return json.loads(words[words.index("-d") + 1])


def test_prompt_lookup() -> None:
    transformers, vllm = made(drafter="prompt-lookup", gamma=5, knobs=(("max_n", "3"), ("min_n", "2")))
    call = generate_call(transformers)
    assert (call["prompt_lookup_num_tokens"], call["max_matching_ngram_size"], call["do_sample"]) == (5, 3, False)
    assert served(vllm) == {
        "method": "ngram",
        "num_speculative_tokens": 5,
        "prompt_lookup_max": 3,
        "prompt_lookup_min": 2,
    }
    assert asked(vllm)["temperature"] == 0


def test_a_draft_model_gets_gamma_where_it_reads_it() -> None:
    transformers, vllm = made(drafter="model", pair="qwen3-4b+0.6b", gamma=7, policy="confidence", confidence=0.3)
    assert "num_assistant_tokens" not in generate_call(transformers)
    for line in (
        "num_assistant_tokens = 7",
        "num_assistant_tokens_schedule = 'constant'",
        "assistant_confidence_threshold = 0.3",
    ):
        assert f"draft.generation_config.{line}" in transformers
    assert served(vllm) == {"method": "draft_model", "model": "Qwen/Qwen3-0.6B", "num_speculative_tokens": 7}


def test_sampling_settings_and_seed() -> None:
    transformers, vllm = made(sampling=SamplingConfig(0.7, 20, 0.9), seed=11)
    assert generate_call(transformers) | {
        "do_sample": True,
        "temperature": 0.7,
        "top_k": 20,
        "top_p": 0.9,
    } == generate_call(transformers)
    assert "torch.manual_seed(11)" in transformers
    assert {"temperature": 0.7, "top_k": 20, "top_p": 0.9, "seed": 11}.items() <= asked(vllm).items()


def test_the_prompt_arrives_whole() -> None:
    transformers, vllm = made()
    assert any(isinstance(node, ast.Constant) and node.value == PROMPT for node in ast.walk(ast.parse(transformers)))
    assert asked(vllm)["messages"] == [{"role": "user", "content": PROMPT}]


@pytest.mark.parametrize("drafter", ["ngram", "quantised", "oracle", "dial-alpha", "random"])
def test_what_others_do_not_have_is_said_and_not_faked(drafter: str) -> None:
    transformers, vllm = snippets(RunConfig(prompt="x", drafter=drafter))
    assert (
        not {"assistant_model", "prompt_lookup_num_tokens", "assistant_early_exit"}
        & generate_call(transformers.code).keys()
    )
    assert served(vllm.code) is None
    assert "nothing like this" in transformers.note["en"]


def test_names_that_transformers_reads() -> None:
    """Every name set on a generation configuration, or given to `generate`, is one of its own."""
    from transformers import GenerationConfig

    known = GenerationConfig().to_dict().keys() | {"assistant_model"}
    for drafter in ("prompt-lookup", "layer-skip"):
        code, _ = made(drafter=drafter)
        assert generate_call(code).keys() <= known
        assert {
            line.split(" = ")[0].split(".")[-1] for line in code.splitlines() if "generation_config." in line
        } <= known


@pytest.mark.real
@pytest.mark.parametrize("drafter", ["prompt-lookup", "layer-skip", "none"])
def test_the_transformers_code_runs_and_says_the_same(
    real_pair: Pair, drafter: str, capsys: pytest.CaptureFixture[str]
) -> None:
    config = RunConfig(prompt="Say: one two three one two", drafter=drafter, gamma=3, max_new_tokens=12)
    lane = collect(lanes.open_lane(real_pair, config, "lane")).lanes["lane"]
    assert lane.finished is not None
    code = snippets(config)[0].code
    exec(code.replace(HUB_TWIN, str(models_dir() / "smollm2-135m")), {})
    assert capsys.readouterr().out.strip() == lane.finished.text.strip()
