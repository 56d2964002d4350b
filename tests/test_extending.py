"""The examples of docs/extending.md are what they say: the code in the page is run."""

import re

import torch

from specdemo.config import SamplingConfig
from specdemo.core.rules import Badge
from specdemo.core.sampling import Shaping
from specdemo.drafters import Setup
from specdemo.models.toy import ToyAccess, fixed
from specdemo.paths import ASSETS
from specdemo.prove.matrix import row
from specdemo.prove.world import random_world


def example(first_words: str) -> dict[str, object]:
    """What the block of code that begins with these words defines."""
    page = (ASSETS.parent / "docs" / "extending.md").read_text(encoding="utf-8")
    code = next(code for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if code.startswith(first_words))
    defined: dict[str, object] = {}
    exec(code, defined)
    return defined


def test_the_rule_of_the_page_is_wasteful_as_its_badge_says() -> None:
    found = row(example('"""Keeps a guess with half')["RULE"], random_world())
    assert found.rule.badge is Badge.WASTEFUL
    assert found.as_promised()
    assert found.passed() == {"a": True, "b": True, "c": True, "d": False}


def test_the_drafter_of_the_page_proposes() -> None:
    access = ToyAccess(fixed(torch.zeros(4)), fixed(torch.zeros(4)), 4)
    drafter = example('"""Proposes the last token')["make"](Setup(access, Shaping(SamplingConfig()), {}))
    assert drafter.propose([1, 2], 3, None).tokens == (2, 2, 2)
