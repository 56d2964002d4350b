"""From a prompt to ids, through the chat template or as it is.

Knows a fast tokenizer of transformers and its chat template. Does not know models, runs or how ids become text.
"""

import re
from collections.abc import Set

from tokenizers import AddedToken, Tokenizer, models
from transformers import PreTrainedTokenizerFast

from specdemo.errors import PromptError

CONTROL, TYPED = "\ufdd0", "\ufdd1"
"""Two noncharacters that mark control tokens and the user's look-alikes while a prompt is put together."""

UNUSABLE = re.compile(f"[\ud800-\udfff{CONTROL}{TYPED}]")
"""Lone surrogates cannot be encoded, the two marks are ours: in a prompt all become U+FFFD."""


class PromptEncoder:
    """Prompt to ids. Thread-safe: it changes no setting of the tokenizer, as `split_special_tokens` would.

    It works on a copy of the tokenizer's pipeline in which every control token goes by a name that nobody can
    type. In the rendered chat the template's own control tokens are renamed, the user's look-alikes are not;
    the whole is then encoded in one go, so that merges across the seams are those of ordinary encoding.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerFast, special: Set[int]) -> None:
        backend: Tokenizer = tokenizer.backend_tokenizer
        template = tokenizer.chat_template
        self._template: str | None = template.get("default") if isinstance(template, dict) else template
        self._tokenizer = tokenizer
        added = backend.get_added_tokens_decoder()
        # Words such as <think> are not "special" to the tokenizer, yet the template steers the model with them.
        written = self._template or ""
        self._controls = {
            entry.content: token
            for token, entry in added.items()
            if token in special or (entry.content.strip() and entry.content in written)
        }
        longest_first = sorted(self._controls, key=len, reverse=True)
        self._control = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
        self._any_case = re.compile(self._control.pattern, re.IGNORECASE)
        self._model = backend.model
        self._pipeline, self._ids = _renamed(backend, self._controls)
        # Text may hold characters the tokenizer does not know: that is the one control id it may make.
        unknown = tokenizer.unk_token_id
        self._forbidden = {token: name for name, token in self._controls.items() if token != unknown}
        self._start = _start_tokens(backend)
        self._if_empty = tokenizer.bos_token_id

    def encode(self, prompt: str, raw: bool) -> tuple[int, ...]:
        """See `Text.encode`."""
        text = UNUSABLE.sub("\ufffd", prompt)
        ids = self._encode(text if raw or self._template is None else self._render(text))
        if ids[: len(self._start)] != self._start:
            ids = self._start + ids
        if not ids and self._if_empty is None:
            raise PromptError("prompt_empty")
        return ids or (self._if_empty,)

    def _render(self, text: str) -> str:
        """The chat with its control tokens renamed and the user's text as typed."""
        typed = self._any_case.findall(text)
        numbers = iter(range(len(typed)))
        # Taken out in any case: a template may change the case of what it is given.
        shielded = self._any_case.sub(lambda _: f"{TYPED}{next(numbers)}{TYPED}", text)
        chat: str = self._tokenizer.apply_chat_template(
            [{"role": "user", "content": shielded}],
            chat_template=self._template,
            add_generation_prompt=True,
            tokenize=False,
        )
        renamed = self._control.sub(lambda match: _name(self._controls[match[0]]), chat)
        return re.sub(f"{TYPED}(\\d+){TYPED}", lambda match: typed[int(match[1])], renamed)

    def _encode(self, text: str) -> tuple[int, ...]:
        ids: list[int] = []
        for token in self._pipeline.encode(text, add_special_tokens=False).ids:
            if token in self._forbidden:  # a vocabulary that spells a control token from plain text
                name = self._forbidden[token]
                ids += [part.id for character in name for part in self._model.tokenize(character)]
            else:
                ids.append(self._ids.get(token, token))
        return tuple(ids)


def _name(token: int) -> str:
    return f"{CONTROL}{token}{CONTROL}"


def _renamed(backend: Tokenizer, controls: dict[str, int]) -> tuple[Tokenizer, dict[int, int]]:
    """The pipeline with its control tokens renamed, and its added ids → the tokenizer's ids."""
    pipeline = Tokenizer(backend.model)
    pipeline.normalizer = backend.normalizer
    pipeline.pre_tokenizer = backend.pre_tokenizer
    names: dict[str, int] = {}
    entries: list[AddedToken] = []
    for token, entry in sorted(backend.get_added_tokens_decoder().items()):
        if entry.content in controls:
            entry = AddedToken(_name(token), lstrip=entry.lstrip, rstrip=entry.rstrip, normalized=False)
        names[entry.content] = token
        entries.append(entry)
    pipeline.add_tokens(entries)
    return pipeline, {own: names[entry.content] for own, entry in pipeline.get_added_tokens_decoder().items()}


def _start_tokens(backend: Tokenizer) -> tuple[int, ...]:
    """What the tokenizer puts before a text of its own accord: usually nothing or one start token."""
    if not backend.post_processor:
        return ()
    letter = Tokenizer(models.WordLevel({"a": 0}, unk_token="a")).encode("a")
    whole = backend.post_processor.process(letter)
    return tuple(whole.ids[: whole.special_tokens_mask.index(0)])
