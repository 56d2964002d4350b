"""What γ was in each round, over the text that the round gave. Knows a finished lane and its detokeniser."""

from dataclasses import dataclass

from specdemo.core.protocols import Detokeniser
from specdemo.core.result import LaneResult
from specdemo.core.verify import Fate


@dataclass(frozen=True, slots=True)
class Beat:
    """One round: γ that was asked for, tokens drafted, tokens of it that were kept, the text that it added."""

    asked: int
    drafted: int
    accepted: int
    text: str


def strip(did: LaneResult, detokeniser: Detokeniser) -> tuple[Beat, ...]:
    """The rounds of a lane; their texts together are its text."""
    tokens, beats = iter(did.tokens), []
    for asked, drafted, counted in zip(did.asked, did.proposed, did.rounds, strict=True):
        text = "".join(detokeniser.feed(next(tokens)) for _ in range(counted.emitted))
        beats.append(Beat(asked, drafted, counted.fates.count(Fate.ACCEPTED), text))
    if beats and (tail := detokeniser.flush()):
        last = beats[-1]
        beats[-1] = Beat(last.asked, last.drafted, last.accepted, last.text + tail)
    return tuple(beats)
