"""The file of a trained draft: its matrices as int8 with a scale per row, its norms, its ids, and what it is made for.

Knows names, shapes and the checks that keep a wrong file from being run. Does not know how a draft computes.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from specdemo.errors import PairError

FORMAT = "specdemo-draft-1"
TINY_MODEL, FEATURE_HEAD = "tiny-model", "feature-head"
MATRICES = ("q", "k", "v", "o", "gate", "up", "down")
NORMS = ("before_attention", "before_mlp")


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of a draft; those of its target but for `layers`. theta: base of the rotary angles."""

    width: int
    heads: int
    kv_heads: int
    dim: int
    inner: int
    layers: int
    eps: float
    theta: float

    @property
    def sound(self) -> bool:
        """True if a layer can have these sizes."""
        sizes = (self.width, self.heads, self.kv_heads, self.dim, self.inner, self.layers)
        whole = all(type(size) is int and size > 0 for size in sizes)
        real = all(type(number) in (int, float) and 0 < number < math.inf for number in (self.eps, self.theta))
        return whole and real and self.heads % self.kv_heads == 0 and self.dim % 2 == 0

    def tensors(self, kind: str) -> dict[str, tuple[int, ...]]:
        """Every tensor of a draft of this kind but its ids, with its shape."""
        h, q, k, inner = self.width, self.heads * self.dim, self.kv_heads * self.dim, self.inner
        sizes = ((q, h), (k, h), (k, h), (h, q), (inner, h), (inner, h), (h, inner))
        named: dict[str, tuple[int, ...]] = {"norm": (h,)}
        for layer in range(self.layers):
            named |= {f"layers.{layer}.{name}": size for name, size in zip(MATRICES, sizes, strict=True)}
            named |= {f"layers.{layer}.{name}": (h,) for name in NORMS}
        if kind == FEATURE_HEAD:
            named |= {"join": (h, 2 * h), "embedding_norm": (h,), "feature_norm": (h,)}
        return named


@dataclass(frozen=True, slots=True)
class Weights:
    """A trained draft. ids `[R]`: those it can say, ascending. tensors: float32. header: data, figures, licence, …"""

    kind: str
    shape: Shape
    vocabulary: int
    ids: Tensor
    tensors: Mapping[str, Tensor]
    header: Mapping[str, str] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Writes the file. Matrices lose what int8 with a scale per row does not hold."""
        stored: dict[str, Tensor] = {"ids": self.ids.to(torch.int32)}
        for name, value in self.tensors.items():
            if value.dim() == 2:
                scale = (value.abs().amax(1, keepdim=True) / 127).clamp_(min=1e-12)
                stored[name] = (value / scale).round().to(torch.int8)
                stored[f"{name}.scale"] = scale.squeeze(1)
            else:
                stored[name] = value.float().contiguous()
        made = {"format": FORMAT, "kind": self.kind, "vocabulary": str(self.vocabulary)}
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file(stored, path, metadata={**self.header, **made, "shape": json.dumps(asdict(self.shape))})

    @classmethod
    def load(cls, path: Path, kind: str, vocabulary: int, width: int) -> "Weights":
        """PairError with the name of what is wrong unless the file is a whole draft of `kind` for such a target.

        vocabulary: V. width: H of the target's hidden states.
        """
        header, stored = _read(path)
        if header.get("format") != FORMAT:
            raise _broken(path, f"it is no {FORMAT} file")
        if header.get("kind") != kind:
            raise PairError("draft_kind", path=path, found=header.get("kind"), wanted=kind)
        shape = _shape(header, path)
        if (header.get("vocabulary"), shape.width) != (str(vocabulary), width):
            made = f"{header.get('vocabulary')} × {shape.width}"
            raise PairError("draft_other_target", path=path, made=made, target=f"{vocabulary} × {width}")
        _check_names(stored, shape.tensors(kind), path)
        tensors = {name: _value(stored, name, size, path) for name, size in shape.tensors(kind).items()}
        ids = stored["ids"].long()
        if ids.dim() != 1 or not len(ids) or bool((ids.diff() <= 0).any()) or ids[0] < 0 or ids[-1] >= vocabulary:
            raise _broken(path, "its ids are no ascending list within the vocabulary")
        return cls(kind, shape, vocabulary, ids, tensors, header)


def _broken(path: Path, reason: str) -> PairError:
    return PairError("draft_broken", path=path, reason=reason)


def _read(path: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    try:
        with safe_open(path, "pt") as file:
            return file.metadata() or {}, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise _broken(path, str(error)) from error


def _shape(header: Mapping[str, str], path: Path) -> Shape:
    try:
        shape = Shape(**json.loads(header["shape"]))
        if not shape.sound:
            raise ValueError(shape)
    except (KeyError, TypeError, ValueError):
        raise _broken(path, "it does not say its shape, or one that cannot be") from None
    return shape


def _check_names(stored: Mapping[str, Tensor], wanted: Mapping[str, tuple[int, ...]], path: Path) -> None:
    """Strict: a file of another layout is refused, never loaded by half."""
    scales = {f"{name}.scale" for name, size in wanted.items() if len(size) == 2}
    names = {"ids", *wanted, *scales}
    missing, unknown = sorted(names - stored.keys()), sorted(stored.keys() - names)
    if missing or unknown:
        raise _broken(path, f"missing: {_some(missing)}; unknown: {_some(unknown)}")


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "") if names else "–"


def _value(stored: Mapping[str, Tensor], name: str, size: tuple[int, ...], path: Path) -> Tensor:
    value = stored[name]
    if tuple(value.shape) != size:
        raise _broken(path, f"{name} is {tuple(value.shape)}, not {size}")
    value = value.float()
    if len(size) == 2:
        scale = stored[f"{name}.scale"]
        if tuple(scale.shape) != size[:1]:
            raise _broken(path, f"{name}.scale is {tuple(scale.shape)}, not {size[:1]}")
        value = value * scale[:, None]
    # A matrix of one number, or numbers that are none, is what a file looks like that was never trained. A norm may be
    # of ones, but not of zeros.
    first = value.flatten()[0]
    constant = bool((value == first).all()) and (len(size) == 2 or first == 0)
    if constant or not bool(value.isfinite().all()):
        raise _broken(path, f"{name} was never trained: it is constant or no number")
    return value
