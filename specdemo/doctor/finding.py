"""What one check found: a verdict, a line, and what to do about it. Does not know the checks."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "warn", "bad"]
ORDER: tuple[Verdict, ...] = ("ok", "warn", "bad")


@dataclass(frozen=True, slots=True)
class Finding:
    """name: of the check. says: what was found, in one line. do: what mends it, "" where nothing need be done."""

    name: str
    verdict: Verdict
    says: str
    do: str = ""


def worst(findings: list[Finding]) -> Verdict:
    """The worst verdict of all; "ok" of none."""
    return max((finding.verdict for finding in findings), key=ORDER.index, default="ok")
