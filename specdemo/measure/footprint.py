"""How many bytes a draft adds to the target. Knows where trained drafts lie. Does not know runs."""

from specdemo.bench.plan import Choice
from specdemo.drafters import entry, trained
from specdemo.models.loader import Pair

FILES = {"ngram": "ngram", "tiny-model": "tiny-model", "feature-head": "feature-head", "hybrid": "feature-head"}
"""The kind of file that a drafter reads, by its id."""


def footprint(pair: Pair, choice: Choice) -> int:
    """Bytes of its file or of its weights; 0 for a drafter that has none of its own. `PairError` if it is missing."""
    knobs = dict(choice.knobs)
    if choice.drafter == "model":
        return pair.draft_bytes
    if choice.drafter == "quantised":
        scheme = next(knob.default for knob in entry(choice.drafter).knobs if knob.name == "scheme")
        return pair.quantised_report(str(knobs.get("scheme", scheme))).bytes
    if choice.drafter in FILES:
        return trained.find(pair, FILES[choice.drafter], knobs.get("file", knobs.get("table", ""))).stat().st_size
    return 0
