"""The list of drafters and how one is built from a visitor's settings.

Knows names, knobs and the file in which a drafter lives; that file is imported when the drafter is built, not
before. Does not know how any of them drafts. A new drafter is one new file with `make(setup)` and one entry here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module

from specdemo.config import one_of, real, whole
from specdemo.core.protocols import Drafter, ModelAccess
from specdemo.core.sampling import Shaping
from specdemo.errors import SettingError

Value = int | float | str


@dataclass(frozen=True, slots=True)
class Knob:
    """A drafter's own setting, as data for command line and page.

    kind: "int" or "float" in [low, high], "choice" among `choices`, "path" of a file ("" is the default file).
    """

    name: str
    kind: str
    default: Value
    help: str
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()

    def parse(self, value: Value) -> Value:
        """A given value, text included, as what `kind` says, or `SettingError` naming the knob."""
        match self.kind:
            case "int":
                return whole(self.name, value, int(self.low), int(self.high))
            case "float":
                return real(self.name, value, self.low, self.high)
            case "choice":
                return one_of(self.name, str(value), self.choices)
            case _:
                return str(value)


@dataclass(frozen=True, slots=True)
class Setup:
    """What a drafter is built from.

    knobs: every knob of its entry, parsed. min_confidence: stop drafting where the draft is less sure than this,
    0 never. seed: of the run, for drafters that need one beside the run's coin.
    """

    access: ModelAccess
    shaping: Shaping
    knobs: Mapping[str, Value]
    min_confidence: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """One drafter. label and summary: a few words and one line, for lists.

    needs: what it needs beside the text, "none" if nothing. module: the file in this package that has `make(setup)`.
    confident: it has a confidence of its own, so the policy "confidence" can stop it.
    control: a yardstick that no real deployment would use; never counted as a speedup.
    """

    id: str
    label: str
    summary: str
    needs: str
    module: str
    knobs: tuple[Knob, ...] = ()
    confident: bool = False
    control: bool = False


MODE = Knob(
    "mode",
    "choice",
    "sample",
    "draw from the draft's law, or always take its first choice",
    choices=("sample", "argmax"),
)
MAX_N = Knob("max_n", "int", 8, "longest ending of the text to look for", 1, 32)
MIN_N = Knob("min_n", "int", 1, "shortest ending of the text to look for", 1, 32)
MIN_DRAFT = Knob("min_draft", "int", 1, "withhold finds shorter than this (or than γ)", 1, 32)
ORDER = Knob("order", "int", 0, "ids an n-gram has at most; 0 is all the table has", 0, 16)
TABLE = Knob("table", "path", "", "table file; empty is the one made for the target")
SOURCE = Knob(
    "source", "choice", "made", "the table made for the target, or on the page the one just trained there",
    choices=("made", "own"),
)  # fmt: skip
FILE = Knob("file", "path", "", "the trained draft; empty is the one made for the target")
LONG_N = Knob("min_n", "int", 2, "shortest ending of the text that is looked up", 1, 32)
COPY = Knob("copy", "int", 8, "ids copied at most per id of the match", 1, 32)
HEAD_MOST = Knob("head_most", "int", 6, "ids that the head drafts at most", 1, 32)
SURE = Knob("sure", "float", 0.2, "the head goes on while its draft is right with this chance", 0.0, 1.0)
SCHEME = Knob("scheme", "choice", "nf4", "number format of the copy's weights", choices=("nf4", "int8"))
LAYERS = Knob("layers", "int", 10, "layers kept; text and law stay the same, α and c change", 1, 512)
ALPHA = Knob("alpha", "float", 0.8, "acceptance to aim at", 0.0, 1.0)

ENTRIES = (
    Entry(
        "prompt-lookup", "Prompt lookup", "Copies what followed the same words earlier in the text",
        "none", "prompt_lookup", (MAX_N, MIN_N, MIN_DRAFT),
    ),
    Entry(
        "ngram", "N-gram table", "Counts of which tokens follow which, learned from text beforehand",
        "n-gram table", "ngram", (ORDER, TABLE, MODE, SOURCE), confident=True,
    ),
    Entry(
        "model", "Draft model", "A smaller model of the same family guesses ahead",
        "draft model", "model", (MODE,), confident=True,
    ),
    Entry(
        "tiny-model", "Tiny model", "Two layers trained here on the target's own text",
        "trained draft", "tiny_model", (FILE, MODE), confident=True,
    ),
    Entry(
        "feature-head", "Feature head", "One trained layer that continues the target's own hidden states",
        "trained draft", "feature_head", (FILE, MODE), confident=True,
    ),
    Entry(
        "hybrid", "Hybrid", "Copies where the text repeats itself, asks the feature head where it does not",
        "trained draft", "hybrid", (FILE, LONG_N, COPY, HEAD_MOST, SURE), confident=True,
    ),
    Entry(
        "quantised", "Quantised copy", "The target itself with weights of fewer bits",
        "quantised copy", "quantised", (SCHEME, MODE), confident=True,
    ),
    Entry(
        "layer-skip", "Layer skip", "The target's own first layers with its output layer",
        "none", "layer_skip", (LAYERS, MODE), confident=True,
    ),
    Entry(
        "oracle", "Oracle", "Control: the target drafts for itself, so every guess is kept",
        "none", "oracle", confident=True, control=True,
    ),
    Entry(
        "dial-alpha", "Dial α", "Control: looks at the target's law to be right with the chance you set",
        "none", "dial_alpha", (ALPHA,), control=True,
    ),
    Entry(
        "random", "Random", "Control: guesses any token of the vocabulary",
        "none", "random_draft", control=True,
    ),
)  # fmt: skip


def entries() -> tuple[Entry, ...]:
    """All drafters, in the order of a menu: real ones first, then the controls."""
    return ENTRIES


def ids() -> tuple[str, ...]:
    """The ids of all drafters. The baseline, "none", is no drafter."""
    return tuple(found.id for found in ENTRIES)


def confident() -> tuple[str, ...]:
    """The ids of those that can say how sure they are."""
    return tuple(found.id for found in ENTRIES if found.confident)


def entry(id: str) -> Entry:
    """The entry of an id, or `SettingError` with the ids there are."""
    one_of("drafter", id, ids())
    return next(found for found in ENTRIES if found.id == id)


def build(
    id: str,
    access: ModelAccess,
    shaping: Shaping,
    knobs: Mapping[str, Value],
    min_confidence: float = 0.0,
    seed: int = 0,
) -> Drafter:
    """A drafter for one run. `knobs` not given take their defaults; unknown ones raise `SettingError`."""
    found = entry(id)
    known = {knob.name: knob for knob in found.knobs}
    for name in knobs:
        if name not in known:
            raise SettingError("unknown_knob", drafter=id, name=name, known=", ".join(known) or "none")
    parsed = {name: knob.parse(knobs.get(name, knob.default)) for name, knob in known.items()}
    confidence = real("confidence", min_confidence, 0.0, 1.0)
    make: Callable[[Setup], Drafter] = import_module(f"specdemo.drafters.{found.module}").make
    return make(Setup(access, shaping, parsed, confidence, seed))
