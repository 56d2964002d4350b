"""Everything that proposes tokens, one drafter a file, behind one registry. Listing them loads none of them."""

from specdemo.drafters.registry import Entry, Knob, Setup, Value, build, confident, entries, entry, ids

__all__ = ["Entry", "Knob", "Setup", "Value", "build", "confident", "entries", "entry", "ids"]
