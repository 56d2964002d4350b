"""From ids to text, one token at a time, never taking a character back.

Knows what bytes each token adds and the decoders of the `tokenizers` library. Does not know models, prompts or
chips. A token adds bytes, not characters, so the text of a list of ids is its bytes read as UTF-8. The library's
own `DecodeStream` is not used: it has no flush, holds a real U+FFFD back and has no bound on what it holds.
"""

import codecs
import json
import re
from collections.abc import Set

from tokenizers import Tokenizer

ANCHOR = "a"
"""A token that any decoder leaves alone; beside it another token shows what it adds in the middle of a text."""

BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def byte_alphabet() -> dict[str, int]:
    """The character that stands for each byte in a byte-level vocabulary (GPT-2): character → byte."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + n): byte for n, byte in enumerate(others)}


class TokenBytes:
    """What each id adds to a text, as bytes. Ids in `silent` and ids without a token add nothing."""

    def __init__(self, backend: Tokenizer, silent: Set[int]) -> None:
        kinds = _decoder_kinds(backend)
        self._backend = backend
        self._silent = silent
        self._added = backend.get_added_tokens_decoder()
        self._byte_level = byte_alphabet() if "ByteLevel" in kinds else None
        self._byte_fallback = "ByteFallback" in kinds
        # Without a decoder the library puts a space between tokens.
        self._decode = backend.decoder.decode if backend.decoder else " ".join
        self._before = len(ANCHOR)
        self._after = len(self._decode([ANCHOR, ANCHOR])) - self._before
        self._known: dict[int, bytes] = {}

    def later(self, token: int) -> bytes:
        """What the id adds in the middle of a text, leading space included. May be a part of a character."""
        if token not in self._known:
            self._known[token] = self._bytes(token)
        return self._known[token]

    def first(self, token: int) -> bytes:
        """What the id adds at the start of a text, where SentencePiece-like decoders drop a space."""
        later = self.later(token)
        if self._byte_level or not later or not is_text(later):
            return later
        return self._decode([self._backend.id_to_token(token) or ""]).encode()

    def _bytes(self, token: int) -> bytes:
        name = self._backend.id_to_token(token)
        if name is None or token in self._silent:
            return b""
        if self._byte_level:
            spelled = token in self._added or not all(character in self._byte_level for character in name)
            return name.encode() if spelled else bytes(self._byte_level[character] for character in name)
        if self._byte_fallback and (byte := BYTE_TOKEN.fullmatch(name)):
            return bytes.fromhex(byte[1])
        text = self._decode([ANCHOR, name, ANCHOR])
        return text[self._before : len(text) - self._after].encode()


class StreamingDetokeniser:
    """Implements `core.protocols.Detokeniser`. Holds back at most three bytes: an unfinished character.

    Bytes that can no longer become a character turn into U+FFFD at once; nothing waits for a space.
    """

    def __init__(self, table: TokenBytes) -> None:
        self._table = table
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._started = False

    def feed(self, token: int) -> str:
        """The text that became final with this id."""
        if self._started:
            return self._utf8.decode(self._table.later(token))
        # A special token before the first word does not make that word the second.
        self._started = bool(self._table.later(token))
        return self._utf8.decode(self._table.first(token))

    def flush(self) -> str:
        """U+FFFD if the text ends inside a character, else ""."""
        return self._utf8.decode(b"", final=True)


def is_text(piece: bytes) -> bool:
    """True if the bytes are whole characters."""
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decoder_kinds(backend: Tokenizer) -> set[str]:
    """Names of the decoder's stages, e.g. {"Sequence", "Replace", "ByteFallback", "Fuse", "Strip"}."""
    if not backend.decoder:
        return set()
    state = json.loads(backend.decoder.__getstate__())
    return {stage["type"] for stage in [state, *state.get("decoders", [])]}
