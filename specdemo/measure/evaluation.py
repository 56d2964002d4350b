"""The prompts that a measurement runs: a few of the project's own, or the visitor's list. Knows texts, no files."""

from specdemo.bench.plan import choose
from specdemo.config import one_of
from specdemo.errors import PromptError
from specdemo.prompts import OWN_GROUP, Prompt, load_prompts, parse_prompts

FEW, KINDS, OWN = "few", "kinds", "own"
SETS = (FEW, KINDS, OWN)
FEW_GROUPS = ("copy", "code", "question", "story")

MOST_PROMPTS = 24
MOST_CHARACTERS = 200_000
"""Of a whole list."""


def prompts_of(name: str, listed: str = "", file: str = "") -> tuple[Prompt, ...]:
    """The prompts of a set. listed, file: the visitor's own list and the name of its file, "" if it was written in."""
    if one_of("prompts", name, SETS) == OWN:
        return own_prompts(listed, file)
    return choose(load_prompts(), FEW_GROUPS if name == FEW else (), limit=1)


def own_prompts(listed: str, file: str = "") -> tuple[Prompt, ...]:
    """A visitor's list, read strictly; `PromptError` says what to mend.

    What was written in, or comes from a .txt file, has one prompt a line; where a blank line stands between two
    prompts, blank lines separate them all, and a prompt may have several lines. Other files: see `parse_prompts`.
    """
    if len(listed) > MOST_CHARACTERS:
        raise PromptError("list_characters", count=len(listed), most=MOST_CHARACTERS)
    if file and not file.lower().endswith(".txt"):
        return parse_prompts(listed, file, MOST_PROMPTS)
    texts = written(listed)
    if not texts:
        raise PromptError("list_empty")
    if len(texts) > MOST_PROMPTS:
        raise PromptError("list_too_many", count=len(texts), most=MOST_PROMPTS)
    return tuple(Prompt(str(number), OWN_GROUP, text) for number, text in enumerate(texts, start=1))


def written(listed: str) -> list[str]:
    """The prompts of a plain text."""
    lines = [line.rstrip() for line in listed.removeprefix("\ufeff").strip().splitlines()]
    parts = "\n".join(lines).split("\n\n") if "" in lines else lines
    return [part.strip() for part in parts if part.strip()]
