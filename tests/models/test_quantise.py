"""Quantised copies own their storage, leave the target alone, and say what is missing where they cannot be made."""

import gc
import importlib.util
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_models import save, tiny
from torch import Tensor

from specdemo.errors import PairError, SettingError
from specdemo.models.loader import Pair, load_pair
from specdemo.models.quantise import SCHEMES, quantise, tensor_bytes

PROMPT = [3, 50, 7, 120, 9]
MODELS = [("llama", {"tie_word_embeddings": True}), ("llama", {}), ("gpt2", {"tie_word_embeddings": True})]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save(tmp_path_factory.mktemp("models") / "target", tiny("llama"))


@pytest.fixture
def pair(folder: str) -> Pair:
    return load_pair(folder, dtype="float32")


def logits_of(model: Any) -> Tensor:
    with torch.inference_mode():
        logits: Tensor = model(torch.tensor([PROMPT]), use_cache=False).logits[0].float()
    return logits


def storage(model: Any) -> set[int]:
    return {t.data_ptr() for t in [*model.parameters(), *model.buffers()] if t.numel()}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("kind", "changes"), MODELS)
def test_the_copy_owns_its_storage_and_the_target_is_untouched(kind: str, changes: dict[str, Any], scheme: str) -> None:
    model = tiny(kind, **changes)
    before, state = logits_of(model), {name: value.clone() for name, value in model.state_dict().items()}
    copied = quantise(model, scheme, kind)
    assert not storage(model) & storage(copied.model)
    assert torch.equal(logits_of(model), before)
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert copied.model.get_output_embeddings().weight.dtype == torch.float32, "the head keeps its precision"
    tied = copied.model.get_output_embeddings().weight is copied.model.get_input_embeddings().weight
    assert tied == bool(changes)
    difference = (logits_of(copied.model) - before).abs().max() / before.abs().max()
    assert 0 < float(difference) < 0.5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_pair_makes_its_copy_once_and_reports_what_it_is(pair: Pair, scheme: str) -> None:
    rows = pair.quantised(scheme).extend(PROMPT, keep=5).logits
    report = pair.quantised_report(scheme)
    assert rows.shape == (5, pair.vocabulary)
    assert report.layers == 3 * 7
    assert report.target_bytes == pair.target_bytes
    assert report.bytes < 0.6 * report.target_bytes
    made = pair._quantised[scheme]
    assert torch.equal(pair.quantised(scheme).extend(PROMPT, keep=5).logits, rows)
    assert pair._quantised[scheme] is made


def test_closing_the_pair_frees_the_copy(pair: Pair) -> None:
    pair.quantised("int8")
    copied = weakref.ref(pair._quantised["int8"].model)
    pair.close()
    gc.collect()
    assert copied() is None


def test_without_the_package_the_sentence_names_it(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    refused_and_still_answers(pair, "quantise_no_package", "pip install bitsandbytes")


@pytest.mark.parametrize(
    "failure",
    [
        RuntimeError("\n🚨 Forgot to compile the bitsandbytes library? 🚨\nmany more lines"),
        NotImplementedError("no kernel for cpu"),
        ImportError("libcudart.so.12: cannot open shared object file"),
    ],
)
def test_a_package_that_cannot_run_here_is_quoted_in_a_line(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr("bitsandbytes.nn.Linear4bit.__init__", fail)
    words = str(failure).strip().splitlines()[0]
    refused_and_still_answers(pair, "quantise_refused", words)


def test_a_copy_that_fails_in_its_first_pass_is_not_kept(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no GPU")

    monkeypatch.setattr("bitsandbytes.nn.Linear4bit.forward", fail)
    refused_and_still_answers(pair, "quantise_refused", "no GPU")


def refused_and_still_answers(pair: Pair, key: str, words: str) -> None:
    before = pair.target().extend(PROMPT, keep=5).logits
    with pytest.raises(PairError) as refused:
        pair.quantised("nf4")
    assert refused.value.key == key
    assert words in refused.value.say()
    assert len(refused.value.say().splitlines()) == 1
    assert pair._quantised == {}
    assert torch.equal(pair.target().extend(PROMPT, keep=5).logits, before)


def test_other_schemes_are_refused(pair: Pair) -> None:
    with pytest.raises(SettingError, match="nf4, int8"):
        pair.quantised("int2")


def test_a_model_without_linear_layers_is_refused() -> None:
    model = tiny("llama", num_hidden_layers=0)
    with pytest.raises(PairError, match="no linear layers"):
        quantise(model, "nf4", "empty")


def test_tied_weights_count_once(tmp_path: Path) -> None:
    tied, untied = tiny("llama", tie_word_embeddings=True), tiny("llama")
    assert tensor_bytes(untied) - tensor_bytes(tied) == 300 * 64 * 4
