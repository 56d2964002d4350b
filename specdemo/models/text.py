"""Text in and out of a model: prompt to ids, ids to text, ids to chip labels; and whether two tokenizers agree.

Knows a fast tokenizer of transformers and its chat template. Does not know models, runs or pages.

One rule for special strings: what the user types is text. Only the chat template and the tokenizer's own start
token make control ids, and control ids add nothing to the text that is shown.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

from tokenizers import AddedToken, Tokenizer
from transformers import PreTrainedTokenizerFast

from specdemo.errors import PairError
from specdemo.models.detokenise import StreamingDetokeniser, TokenBytes, is_text
from specdemo.models.prompt import PromptEncoder

LabelKind = Literal["text", "bytes", "special"]


@dataclass(frozen=True, slots=True)
class Text:
    """One tokenizer for every lane of a pair, so that all lanes get the same prompt ids.

    vocabulary: number of ids the tokenizer knows, V or less (model heads may be padded beyond it).
    """

    vocabulary: int
    _prompts: PromptEncoder
    _table: TokenBytes
    _special: dict[int, str]

    @classmethod
    def from_tokenizer(cls, tokenizer: PreTrainedTokenizerFast, end_tokens: tuple[int, ...] = ()) -> Self:
        """end_tokens: ids that end a run; they add no text, like all special ids, whatever the tokenizer says of them.

        PairError if it is no fast tokenizer.
        """
        if not isinstance(tokenizer, PreTrainedTokenizerFast):
            raise PairError("tokenizer_not_fast", name=tokenizer.name_or_path)
        backend: Tokenizer = tokenizer.backend_tokenizer
        ids = special_ids(tokenizer) | {*end_tokens}
        special = {token: backend.id_to_token(token) or f"[{token}]" for token in ids}
        size = 1 + max(backend.get_vocab().values())
        return cls(size, PromptEncoder(tokenizer, special.keys()), TokenBytes(backend, special.keys()), special)

    def encode(self, prompt: str, raw: bool) -> tuple[int, ...]:
        """The prompt's ids, at least one: through the chat template, or as it is where `raw` or no template exists.

        Equal to transformers' own encoding of the same text unless it spells special strings. Exactly one start
        token if the tokenizer adds one. PromptError if nothing is left and there is no start token either.
        """
        return self._prompts.encode(prompt, raw)

    def detokeniser(self) -> StreamingDetokeniser:
        """A new detokeniser, for one run."""
        return StreamingDetokeniser(self._table)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of a whole list: what a detokeniser gives piece by piece, and its flush."""
        detokeniser = self.detokeniser()
        pieces = [detokeniser.feed(token) for token in ids]
        return "".join(pieces) + detokeniser.flush()

    def label(self, token: int) -> tuple[str, LabelKind]:
        """What a chip shows for the id alone, and its kind.

        text: the characters it adds in mid-text, a leading space included. bytes: part of a character, as hex
        ("F0 9F"). special: a control token's string, or "[id]" for an id without text.
        """
        if token in self._special:
            return self._special[token], "special"
        piece = self._table.later(token)
        if not piece:
            return f"[{token}]", "special"
        return (piece.decode(), "text") if is_text(piece) else (piece.hex(" ").upper(), "bytes")


def check_same(
    target_tokenizer: PreTrainedTokenizerFast,
    draft_tokenizer: PreTrainedTokenizerFast,
    target_name: str,
    draft_name: str,
) -> None:
    """PairError unless an id means the same token to target and draft, compared by content, id by id.

    One table may be longer by special tokens (the loader trims both models to the ids they share), but not by
    ordinary tokens and not by the target's end token. Merges, normaliser and pre-tokeniser may differ: only the
    target's tokenizer ever reads text, the draft sees ids.
    """
    target, draft = _tokens(target_tokenizer), _tokens(draft_tokenizer)
    for token in sorted(target.keys() & draft.keys()):
        if target[token] != draft[token]:
            raise PairError(
                "tokenizers_differ",
                target=target_name,
                draft=draft_name,
                id=token,
                target_token=target[token],
                draft_token=draft[token],
            )
    optional = special_ids(target_tokenizer) - {target_tokenizer.eos_token_id}
    for owner, other, names, extra in (
        (target_name, draft_name, target, target.keys() - draft.keys() - optional),
        (draft_name, target_name, draft, draft.keys() - target.keys() - special_ids(draft_tokenizer)),
    ):
        if extra:
            token = min(extra)
            raise PairError("tokenizers_extra", owner=owner, other=other, id=token, token=names[token])


def special_ids(tokenizer: PreTrainedTokenizerFast) -> set[int]:
    """Ids of the tokenizer's control tokens."""
    added: dict[int, AddedToken] = tokenizer.added_tokens_decoder
    return {token for token, entry in added.items() if entry.special} | {*tokenizer.all_special_ids}


def _tokens(tokenizer: PreTrainedTokenizerFast) -> dict[int, str]:
    return {token: name for name, token in tokenizer.get_vocab().items()}
