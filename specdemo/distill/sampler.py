"""Conversations written by the target itself, many at a time: a finished row makes room for the next at once.

Knows the batch forward pass, scripts and chat templates. Does not know files or what the text is for.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import torch
from torch import Tensor

from specdemo.distill.batch_llama import BatchLlama
from specdemo.distill.conversations import ANSWER_TOKENS, Script
from specdemo.models.pair import Pair
from specdemo.models.text import Text
from specdemo.prompts import load_prompts

LOOP, REPEATS = 8, 3
"""An answer that says the same 8 ids for the third time is looping and ends."""


class Role(IntEnum):
    """Who wrote an id."""

    TEMPLATE = 0
    GIVEN = 1
    USER = 2
    ANSWER = 3


@dataclass(frozen=True, slots=True)
class Template:
    """What the chat template writes before and behind the user's words. start: what the tokenizer puts before any."""

    head: tuple[int, ...]
    tail: tuple[int, ...]
    start: tuple[int, ...] = ()

    @classmethod
    def of(cls, text: Text) -> "Template":
        one, other = (text.encode(word, raw=False) for word in ("One", "other"))
        behind = _common(one[::-1], other[::-1])
        raw = [text.encode(word, raw=True) for word in ("One", "other")]
        head, start = one[: max(_common(one, other), 1)], raw[0][: _common(*raw)]
        return cls(head, one[len(one) - behind :], start)

    def words(self, text: Text, written: str) -> tuple[int, ...]:
        """Ids of a piece of the user's turn."""
        return text.encode(written, raw=True)[len(self.start) :]


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    """How many ids two sequences begin with alike."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


@dataclass(frozen=True, slots=True)
class Conversation:
    """Ids behind the template's head, who wrote each, and the hidden state at each but the last `[n - 1, H]`."""

    script: Script
    tokens: list[int]
    roles: list[Role]
    hidden: Tensor


@dataclass(slots=True)
class _Row:
    script: Script
    template: Template
    tokens: list[int]
    roles: list[Role]
    read: int = 0
    answered: int = 0
    asked: int = 0
    seen: dict[tuple[int, ...], int] = field(default_factory=dict)

    @property
    def waits(self) -> bool:
        """The next id has to be sampled."""
        return self.read == len(self.tokens)

    @property
    def temperature(self) -> float:
        return self.script.answer_temperature if self._answering else self.script.user_temperature

    @property
    def _answering(self) -> bool:
        return self.asked < 0

    def take(self, token: int, ends: frozenset[int]) -> bool:
        """Appends a sampled id; True if the conversation is over."""
        if self._answering:
            self.tokens.append(token)
            self.roles.append(Role.ANSWER)
            self.answered += 1
            return token in ends or self.answered >= self.script.answer_tokens or self._loops()
        if token not in ends:
            self.tokens.append(token)
            self.roles.append(Role.USER)
            self.asked += 1
        if token in ends or self.asked >= self.script.user_tokens:
            self.close_turn()
        return False

    def close_turn(self) -> None:
        self.tokens += self.template.tail
        self.roles += [Role.TEMPLATE] * len(self.template.tail)
        self.asked = -1

    def _loops(self) -> bool:
        if self.answered < LOOP:
            return False
        ending = tuple(self.tokens[-LOOP:])
        self.seen[ending] = self.seen.get(ending, 0) + 1
        return self.seen[ending] >= REPEATS


class Sampler:
    """Writes for ever: `next_script` says what. Rows share the template's head, which is read once."""

    @torch.inference_mode()
    def __init__(self, model: BatchLlama, template: Template, end_tokens: tuple[int, ...], seed: int) -> None:
        self._model, self._template = model, template
        self._ends = frozenset(end_tokens)
        rows, self._length = model.rows, model.length
        self._rows = rows
        self._generator = torch.Generator().manual_seed(seed)
        read = [self._read([token] * rows, [place] * rows)[0] for place, token in enumerate(template.head)]
        self.head_hidden = torch.stack(read).cpu()
        self._hidden = torch.empty(rows, self._length, model.width, dtype=read[0].dtype)

    @torch.inference_mode()
    def conversations(self, next_script: Callable[[], Script]) -> Iterator[Conversation]:
        """Whole conversations as they are finished."""
        rows = [self._start(next_script()) for _ in range(self._rows)]
        # A row whose question is empty begins by sampling behind the head's last id, which is read again.
        while True:
            last = len(self._template.head) - 1
            tokens = [row.tokens[row.read - 1] if row.read else self._template.head[-1] for row in rows]
            hidden = self._read(tokens, [last + row.read for row in rows])
            states = hidden.cpu()
            for i, row in enumerate(rows):
                if row.read:
                    self._hidden[i, row.read - 1] = states[i]
            waiting = [i for i, row in enumerate(rows) if row.waits]
            drawn = self._draw(hidden[waiting], [rows[i].temperature for i in waiting]) if waiting else []
            done = {i for i, token in zip(waiting, drawn, strict=True) if rows[i].take(token, self._ends)}
            for i in range(self._rows):
                rows[i].read += 1
                if i in done or last + rows[i].read >= self._length:
                    row = rows[i]
                    if i in done:
                        kept = self._hidden[i, : len(row.tokens) - 1].clone()
                        yield Conversation(row.script, row.tokens, row.roles, kept)
                    rows[i] = self._start(next_script())

    def _read(self, tokens: list[int], places: list[int]) -> Tensor:
        device = self._model.device
        return self._model.step(torch.tensor(tokens, device=device), torch.tensor(places, device=device))

    def _start(self, script: Script) -> _Row:
        row = _Row(script, self._template, list(script.given), [Role.GIVEN] * len(script.given))
        if not script.user_tokens:
            row.close_turn()
        return row

    def _draw(self, hidden: Tensor, temperatures: list[float]) -> list[int]:
        """One id per row: the first choice at temperature 0, else by inverse CDF."""
        logits = self._model.head(hidden).float()
        heat = torch.tensor(temperatures, device=logits.device)
        drawn = logits.argmax(-1)
        warm = heat > 0
        if bool(warm.any()):
            mass = (logits[warm] / heat[warm, None]).softmax(-1).cumsum(-1)
            u = torch.rand(len(mass), 1, generator=self._generator).to(mass.device) * mass[:, -1:]
            drawn[warm] = torch.searchsorted(mass, u, right=True).squeeze(-1).clamp_(max=logits.shape[-1] - 1)
        ids: list[int] = drawn.tolist()
        return ids


def longest(template: Template) -> int:
    """Positions that any conversation fits in."""
    return len(template.head) + len(template.tail) + 200 + ANSWER_TOKENS


def own_prompts(pair: Pair) -> frozenset[tuple[int, ...]]:
    """The user's turns, tail included, of the project's own prompts: what drafts are judged on is not trained on."""
    template = Template.of(pair.text)
    return frozenset(template.words(pair.text, prompt.text) + template.tail for prompt in load_prompts())
