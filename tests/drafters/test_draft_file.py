"""D01, D03: a file of a trained draft is loaded whole or refused with the name of what is wrong."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor
from toy_drafts import SHAPE, random_file, random_weights

from specdemo.drafters.draft_file import FEATURE_HEAD, TINY_MODEL, Weights
from specdemo.errors import PairError

V = 40
Change = Callable[[dict[str, Tensor]], dict[str, Tensor]]


def load(path: Path, kind: str = TINY_MODEL, vocabulary: int = V, width: int = SHAPE.width) -> Weights:
    return Weights.load(path, kind, vocabulary, width)


def changed(path: Path, change: Change, header: dict[str, str] | None = None) -> Path:
    """The same file with other tensors or header entries."""
    with safe_open(path, "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = {**file.metadata(), **(header or {})}
    save_file(change(tensors), path, metadata=metadata)
    return path


@pytest.mark.parametrize("kind", [TINY_MODEL, FEATURE_HEAD])
def test_what_is_saved_comes_back(tmp_path: Path, kind: str) -> None:
    """Matrices within half a step of their row's int8 scale, the rest exactly."""
    made = random_weights(kind, V)
    found = load(random_file(kind, V, tmp_path), kind)
    assert torch.equal(found.ids, made.ids)
    assert found.shape == made.shape
    assert found.tensors.keys() == made.tensors.keys()
    for name, value in made.tensors.items():
        step = value.abs().amax(-1, keepdim=True) / 127 if value.dim() == 2 else torch.zeros(())
        assert bool(((found.tensors[name] - value).abs() <= step * 0.501).all()), name


def zeros(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value if name == "ids" else torch.zeros_like(value) for name, value in tensors.items()}


def without_gate(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value for name, value in tensors.items() if name != "layers.0.gate"}


def renamed(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.replace("layers.0", "model.layers.0"): value for name, value in tensors.items()}


def own_output_layer(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return tensors | {"lm_head": torch.ones(V, SHAPE.width)}


def swapped(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return tensors | {"layers.0.up": tensors["layers.0.down"], "layers.0.down": tensors["layers.0.up"]}


def broken_number(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return tensors | {"norm": tensors["norm"] * float("nan")}


def no_norm(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return tensors | {"norm": torch.zeros_like(tensors["norm"])}


def unsorted(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return tensors | {"ids": tensors["ids"].flip(0)}


def beyond(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return tensors | {"ids": tensors["ids"] + V}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (zeros, "was never trained"),
        (without_gate, "layers.0.gate"),
        (renamed, "model.layers.0"),
        (own_output_layer, "lm_head"),
        (swapped, "layers.0.up is"),
        (broken_number, "norm"),
        (no_norm, "norm"),
        (unsorted, "ids"),
        (beyond, "ids"),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path: Path, change: Change, named: str) -> None:
    path = changed(random_file(TINY_MODEL, V, tmp_path), change)
    with pytest.raises(PairError) as refused:
        load(path)
    assert named in str(refused.value)
    assert "distill" in str(refused.value)


def test_the_other_layout_is_recognised(tmp_path: Path) -> None:
    path = random_file(FEATURE_HEAD, V, tmp_path)
    with pytest.raises(PairError) as refused:
        load(path, TINY_MODEL)
    assert "feature-head" in str(refused.value)
    assert "tiny-model" in str(refused.value)


@pytest.mark.parametrize(("vocabulary", "width"), [(V + 1, SHAPE.width), (V, 2 * SHAPE.width)])
def test_a_draft_of_another_target_is_refused(tmp_path: Path, vocabulary: int, width: int) -> None:
    with pytest.raises(PairError) as refused:
        load(random_file(TINY_MODEL, V, tmp_path), vocabulary=vocabulary, width=width)
    assert f"{V} × {SHAPE.width}" in str(refused.value)


def shape(**changed: object) -> dict[str, str]:
    return {"shape": json.dumps(asdict(SHAPE) | changed)}


@pytest.mark.parametrize(
    "header",
    [
        {"format": "other"}, {"shape": "[]"}, {"shape": "{"}, {"vocabulary": "many"}, {"vocabulary": ""},
        shape(heads=None), shape(heads=3), shape(dim=4.0), shape(dim=3), shape(layers=0), shape(width=True),
        shape(eps=float("nan")), shape(eps="small"), shape(theta=0), shape(theta=-1.0), shape(theta=float("inf")),
    ],
    ids=str,
)  # fmt: skip
def test_a_strange_header_is_refused(tmp_path: Path, header: dict[str, str]) -> None:
    with pytest.raises(PairError):
        load(changed(random_file(TINY_MODEL, V, tmp_path), lambda tensors: tensors, header))


def test_what_is_no_such_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.safetensors"
    path.write_text("hello")
    for wrong in (path, tmp_path / "absent.safetensors"):
        with pytest.raises(PairError):
            load(wrong)
