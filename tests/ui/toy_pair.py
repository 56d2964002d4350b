"""A pair without models: it says a script of words, hostile ones among them, as slowly as a test wants.

Has what `lanes.open_lane` uses of a pair. The draft is a copy that errs now and then, so every fate occurs.
"""

import codecs
import time
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from specdemo.models.presets import Preset
from specdemo.models.toy import ToyAccess

HOSTILE = ("</script>", "${7*6}", "<img src=x onerror=alert(1)>", "<|im_start|>", "`", "*bold*", "a<b")
SMILE = "😀".encode()
HAN = "投".encode()

PIECES: tuple[bytes, ...] = (
    b"<end>",
    *(word.encode() for word in (" the", " cat", " sat", ",", " on", "  two", "\n", " mat", ".", " e\u0301")),
    *(word.encode() for word in HOSTILE),
    SMILE[:2], SMILE[2:], HAN[:1], HAN[1:2], HAN[2:],
)  # fmt: skip
"""What each id adds to the text."""
END = 0
VOCABULARY = len(PIECES)
CYCLE = tuple(range(1, VOCABULARY))
"""The target says all of them in turn, for ever."""


class ToyText:
    """Prompt to ids and ids to text."""

    def encode(self, prompt: str, raw: bool) -> tuple[int, ...]:
        """One id for each word of the prompt, so that long prompts are long."""
        return tuple(1 + len(word) % (VOCABULARY - 1) for word in prompt.split()) or (1,)

    def label(self, token: int) -> tuple[str, str]:
        piece = PIECES[token]
        if token == END:
            return "<end>", "special"
        try:
            return piece.decode(), "text"
        except UnicodeDecodeError:
            return piece.hex(" ").upper(), "bytes"

    def detokeniser(self) -> "ToyDetokeniser":
        return ToyDetokeniser()


class ToyDetokeniser:
    """Ids to text without taking a character back."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, token: int) -> str:
        return "" if token == END else self._decoder.decode(PIECES[token])

    def flush(self) -> str:
        return self._decoder.decode(b"", final=True)


class ToyPair(ToyAccess):
    """delay_s: of every pass of the target. fail: called before every pass, to raise what a test wants."""

    preset = Preset("toy", "toy", "toy")
    dtype, device, path, target_name, draft_name = "float32", "cpu", "plain", "toy", None
    target_bytes = draft_bytes = 0
    token_bytes = 23_040
    end_tokens = (END,)

    def __init__(
        self, delay_s: float = 0.0, fail: Callable[[int], None] = lambda call: None, limit: int = 4096
    ) -> None:
        self.calls = 0
        self._delay_s, self._fail = delay_s, fail
        super().__init__(self._target_table, _draft_table, VOCABULARY, limit)
        self.text = ToyText()
        self.closed = False
        self.limit = limit

    def _target_table(self, context: Sequence[int]) -> Tensor:
        self.calls += 1
        self._fail(self.calls)
        time.sleep(self._delay_s)
        return _logits(context, strength=6.0)

    clock = staticmethod(time.perf_counter)

    def require_rollback(self) -> None:
        pass

    def peak_memory(self) -> int:
        return 0

    def close(self) -> None:
        self.closed = True


def _next(context: Sequence[int]) -> int:
    """The id that follows: the next one of the cycle."""
    return CYCLE[context[-1] % len(CYCLE)]


def _logits(context: Sequence[int], strength: float) -> Tensor:
    logits = torch.zeros(VOCABULARY)
    logits[END] = -20.0
    logits[_next(context)] = strength
    return logits


def _draft_table(context: Sequence[int]) -> Tensor:
    """The same law, but every third context it prefers another word."""
    logits = _logits(context, strength=4.0)
    if len(context) % 3 == 0:
        logits[(_next(context) + 3) % (VOCABULARY - 1) + 1] = 8.0
    return logits
