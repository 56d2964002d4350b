"""Python and the packages: are they there, and in the versions that the project was tested with?

Knows the project's list of packages. Does not import what it looks for.
"""

import platform
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import Requirement

from specdemo.doctor.finding import Finding
from specdemo.paths import ASSETS

REQUIREMENTS = ASSETS.parent / "requirements.txt"
LEAST = (3, 11)
NAMED = ("torch", "transformers", "gradio")
"""Whose versions are worth a line."""

Versions = Callable[[str], str | None]


def installed(package: str) -> str | None:
    """The version of a package, None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def requirements(file: Path = REQUIREMENTS) -> list[Requirement]:
    """The lines of a requirements file that name packages."""
    lines = (line.partition("#")[0].strip() for line in file.read_text(encoding="utf-8").splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


def python(found: tuple[int, ...] = sys.version_info[:2]) -> Finding:
    """The interpreter's version."""
    says = f"Python {platform.python_version()}" if found == sys.version_info[:2] else ".".join(map(str, found))
    if found < LEAST:
        return Finding(
            "python", "bad", says, f"Python {LEAST[0]}.{LEAST[1]} or newer is needed: make a new environment."
        )
    return Finding("python", "ok", says)


def packages(needed: list[Requirement] | None = None, versions: Versions = installed) -> Finding:
    """All packages of the page at once."""
    needed = requirements() if needed is None else needed
    wrong = [
        f"{one.name} {found or 'is missing'} (wanted: {one.specifier})"
        for one in needed
        if (found := versions(one.name)) is None or not one.specifier.contains(found, prereleases=True)
    ]
    if wrong:
        missing = any("is missing" in line for line in wrong)
        do = f"{Path(sys.executable).name} -m pip install -r requirements.txt, in the environment that runs the page."
        return Finding("packages", "bad" if missing else "warn", "; ".join(wrong), do)
    says = ", ".join(f"{name} {versions(name)}" for name in NAMED)
    return Finding("packages", "ok", f"{says}; all {len(needed)} as required")
