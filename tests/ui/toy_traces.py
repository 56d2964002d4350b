"""Toy runs as recorded traces."""

import json
from datetime import UTC, datetime
from pathlib import Path

from toy_pair import ToyPair

from specdemo import lanes, trace
from specdemo.config import RunConfig
from specdemo.wire import encode


def toy_trace(**settings: object) -> str:
    """A recorded race of the toy pair as text."""
    config = RunConfig(**{"prompt": "the cat sat", "drafter": "model", "max_new_tokens": 24} | settings)
    pair = ToyPair()
    header = trace.header(config, lanes.models_of(pair, config), datetime(2025, 1, 2, tzinfo=UTC))
    events = list(lanes.open_race(pair, lanes.against_baseline(config), inspect=True))
    return "".join(line + "\n" for line in encode(header, events, pair.text.label))


def write_library(folder: Path) -> None:
    """A folder of recorded runs as the page expects it, with two of them."""
    for id, settings in {
        "hero": {"gamma": 5, "max_new_tokens": 40},
        "warm": {"gamma": 3, "drafter": "prompt-lookup"},
    }.items():
        (folder / f"{id}.jsonl").write_text(toy_trace(**settings), encoding="utf-8")
    index = [
        {"id": "hero", "titles": {"en": "The hero", "zh": "主角"}, "hero": True},
        {"id": "warm", "titles": {"en": "Another run", "zh": "另一次运行"}},
    ]
    (folder / "index.json").write_text(json.dumps(index), encoding="utf-8")
