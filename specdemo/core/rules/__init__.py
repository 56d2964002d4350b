"""Verification rules, one a file, behind one registry: sound ones, a lossy one, and some that are broken on purpose."""

from specdemo.core.rules.entry import Badge, Entry, Side
from specdemo.core.rules.registry import entries, entry

__all__ = ["Badge", "Entry", "Side", "entries", "entry"]
