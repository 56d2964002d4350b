"""The two draft nets as they are trained: whole sequences at once, with gradients.

Knows layers, masks and unrolled steps. Does not know files, optimisers or how a draft runs token by token
(`drafters/draft_net.py` computes the same numbers one position at a time).
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdemo.distill.batch_llama import rotated
from specdemo.drafters.draft_file import FEATURE_HEAD, MATRICES, TINY_MODEL, Shape, Weights

JOIN_SCALE = 10.0
"""About the size of the states that the target's last layer is used to."""


def shape_of(model: Any, layers: int) -> Shape:
    """The sizes of a draft with so many layers for a Llama-like target."""
    config = model.config
    return Shape(
        width=config.hidden_size,
        heads=config.num_attention_heads,
        kv_heads=config.num_key_value_heads,
        dim=getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads,
        inner=config.intermediate_size,
        layers=layers,
        eps=config.rms_norm_eps,
        theta=float(config.rope_parameters["rope_theta"]),
    )


class Layer(nn.Module):
    """One Llama layer, initialised from one of the target's."""

    q: nn.Parameter
    k: nn.Parameter
    v: nn.Parameter
    o: nn.Parameter
    gate: nn.Parameter
    up: nn.Parameter
    down: nn.Parameter

    def __init__(self, shape: Shape, layer: Any) -> None:
        super().__init__()
        self.shape = shape
        attention, mlp = layer.self_attn, layer.mlp
        parts = (attention.q_proj, attention.k_proj, attention.v_proj, attention.o_proj)
        for name, part in zip(MATRICES, (*parts, mlp.gate_proj, mlp.up_proj, mlp.down_proj), strict=True):
            setattr(self, name, nn.Parameter(part.weight.detach().float().clone()))
        self.before_attention = nn.Parameter(layer.input_layernorm.weight.detach().float().clone())
        self.before_mlp = nn.Parameter(layer.post_attention_layernorm.weight.detach().float().clone())

    def forward(self, x: Tensor, angles: tuple[Tensor, Tensor], past: "Past") -> Tensor:
        """x `[B, T, H]` → `[B, T, H]`. `past` holds keys and values of earlier unrolled steps and takes this one's."""
        shape, (b, t, _) = self.shape, x.shape
        y = F.rms_norm(x, (shape.width,), self.before_attention, shape.eps)
        q = F.linear(y, self.q).view(b, t, shape.heads, shape.dim).transpose(1, 2)
        k = F.linear(y, self.k).view(b, t, shape.kv_heads, shape.dim).transpose(1, 2)
        v = F.linear(y, self.v).view(b, t, shape.kv_heads, shape.dim).transpose(1, 2)
        mixed = past.attend(rotated(q, *angles), rotated(k, *angles), v)
        x = x + F.linear(mixed.transpose(1, 2).reshape(b, t, -1), self.o)
        y = F.rms_norm(x, (shape.width,), self.before_mlp, shape.eps)
        return x + F.linear(F.silu(F.linear(y, self.gate)) * F.linear(y, self.up), self.down)


class Past:
    """Attention of one layer over unrolled steps.

    In step s a row at place t sees what the draft would have in its cache there: keys from true states up to
    t − s + 1, then one key of each step 2 … s. (As in EAGLE-3's training-time test, arXiv 2503.01840.)
    """

    def __init__(self, mask: Tensor) -> None:
        """mask `[B, 1, T, T]`, 0 or −inf: who sees whom in step 1."""
        self._mask = mask
        self._steps: list[tuple[Tensor, Tensor]] = []

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """q `[B, heads, T, D]`, k and v `[B, kv, T, D]` → `[B, heads, T, D]`."""
        groups = q.shape[1] // k.shape[1]
        self._steps.append((k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)))
        (first_k, first_v), lag, t = self._steps[0], len(self._steps) - 1, q.shape[2]
        q = q * q.shape[-1] ** -0.5
        behind = torch.ones(t, t, dtype=torch.bool, device=q.device).triu(1 - lag) if lag else None
        mask = self._mask if behind is None else self._mask.masked_fill(behind, float("-inf"))
        late = [
            (_shifted(key, lag - step), _shifted(value, lag - step))
            for step, (key, value) in enumerate(self._steps[1:], start=1)
        ]
        scores = [(q @ first_k.transpose(-1, -2)).float() + mask]
        scores += [(q * key).sum(-1, keepdim=True).float() for key, _ in late]
        shares = (torch.cat(scores, -1) if late else scores[0]).softmax(-1).to(v.dtype)
        mixed = shares[..., :t] @ first_v
        for column, (_, value) in enumerate(late):
            mixed = mixed + shares[..., t + column, None] * value
        return mixed


def _shifted(x: Tensor, back: int) -> Tensor:
    """`[..., T, D]` moved `back` places to the right."""
    return F.pad(x, (0, 0, back, 0))[..., : x.shape[-2], :] if back else x


class Copied(nn.Module):
    """Copies of some of the target's layers with its norm: what every draft starts from."""

    def __init__(self, model: Any, layers: tuple[int, ...]) -> None:
        super().__init__()
        shape = shape_of(model, len(layers))
        self.shape = shape
        self.layers = nn.ModuleList([Layer(shape, model.model.layers[i]) for i in layers])
        self.norm = nn.Parameter(model.model.norm.weight.detach().float().clone())


class TinyModel(Copied):
    """A causal language model of a few of the target's layers over its embedding: the textbook draft model."""

    kind = TINY_MODEL

    def features(self, embedded: Tensor, before: Tensor, place: Tensor, mask: Tensor, steps: int) -> list[Tensor]:
        """What the head reads, `[B, T, H]`, for ids embedded as `[B, T, H]`. One entry: nothing is unrolled."""
        x, angles = embedded, rotations(place, self.shape)
        for layer in self.layers:
            x = layer(x, angles, Past(mask))
        return [F.rms_norm(x, (self.shape.width,), self.norm, self.shape.eps)]


class FeatureHead(Copied):
    """Reads an id and the target's last hidden state before it, and predicts the state at it (EAGLE, arXiv 2401.15077).

    In use only the first state is the target's, later ones are its own guesses; training unrolls the same.
    """

    kind = FEATURE_HEAD

    def __init__(self, model: Any, layers: tuple[int, ...]) -> None:
        super().__init__(model, layers)
        width = self.shape.width
        self.embedding_norm = nn.Parameter(torch.ones(width))
        self.feature_norm = nn.Parameter(torch.ones(width))
        self.join = nn.Parameter(torch.cat([torch.eye(width), torch.eye(width)], 1) * JOIN_SCALE)

    def features(self, embedded: Tensor, before: Tensor, place: Tensor, mask: Tensor, steps: int) -> list[Tensor]:
        """What the head reads in each of `steps` unrolled steps; `before` `[B, T, H]` are the target's true states."""
        shape, angles = self.shape, rotations(place, self.shape)
        pasts = [Past(mask) for _ in self.layers]
        embedded = F.rms_norm(embedded, (shape.width,), self.embedding_norm, shape.eps)
        found: list[Tensor] = []
        for _ in range(steps):
            state = F.rms_norm(before.float(), (shape.width,), self.feature_norm, shape.eps)
            x = F.linear(torch.cat([embedded, state], -1), self.join).float()
            for layer, past in zip(self.layers, pasts, strict=True):
                x = layer(x, angles, past)
            found.append(F.rms_norm(x, (shape.width,), self.norm, shape.eps))
            before = _shifted(found[-1], 1)
        return found


Net = TinyModel | FeatureHead


def weights(net: Net, ids: Tensor, vocabulary: int, header: dict[str, str]) -> Weights:
    """A trained net as what is written to a file."""
    tensors = {name: value.detach().float() for name, value in net.state_dict().items()}
    return Weights(net.kind, net.shape, vocabulary, ids, tensors, header)


def rotations(place: Tensor, shape: Shape) -> tuple[Tensor, Tensor]:
    """cos and sin `[B, 1, T, D]` of the places `[B, T]`."""
    half = torch.arange(0, shape.dim, 2, dtype=torch.float32, device=place.device) / shape.dim
    angles = place.float()[..., None] * shape.theta**-half
    both = torch.cat([angles, angles], -1)[:, None]
    return both.cos(), both.sin()


def causal(segment: Tensor) -> Tensor:
    """Mask `[B, 1, T, T]`: a row sees itself and the earlier ones of its segment and of segment 0; −1 sees itself."""
    t = segment.shape[1]
    same = (segment[:, :, None] == segment[:, None, :]) | (segment[:, None, :] == 0)
    seen = same & torch.ones(t, t, dtype=torch.bool, device=segment.device).tril()
    seen |= torch.eye(t, dtype=torch.bool, device=segment.device)
    return torch.zeros(seen.shape, device=segment.device).masked_fill_(~seen, float("-inf"))[:, None]
