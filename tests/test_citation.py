"""CITATION.cff is complete and of this version."""

import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]


def test_the_citation_names_this_version_and_its_licence() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cited["version"] == project["version"]
    assert cited["license"] == project["license"]
    for field in ("cff-version", "message", "title", "type", "authors", "abstract", "keywords"):
        assert cited[field], field
