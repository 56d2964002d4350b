"""The list of verification rules. A new rule is one new file here with its `RULE`, and its id in `config.RULES`.

Knows ids and the files they stand for. Does not know how any rule judges.
"""

from importlib import import_module

from specdemo.config import RULES, one_of
from specdemo.core.rules.entry import Entry


def _load(id: str) -> Entry:
    found: Entry = import_module(f"specdemo.core.rules.{id.replace('-', '_')}").RULE
    return found


ENTRIES = tuple(_load(id) for id in RULES)


def entries() -> tuple[Entry, ...]:
    """All rules, in the order of a menu: sound ones first, then those broken on purpose."""
    return ENTRIES


def entry(id: str) -> Entry:
    """The rule of an id, or `SettingError` with the ids there are."""
    one_of("rule", id, RULES)
    return next(found for found in ENTRIES if found.id == id)
