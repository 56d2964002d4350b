"""The recorded runs that ship with the page: `python -m specdemo.recording`, or `make traces`.

Knows which prompts, drafters and settings are worth showing before any model is there. Does not know the page. They
are recorded on the embedded default; run it on a quiet machine, for the clock in a trace is the machine's.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from specdemo import lanes, prompts, trace, wire
from specdemo.config import RunConfig, SamplingConfig
from specdemo.core.events import Event
from specdemo.core.result import collect
from specdemo.device import Device, race
from specdemo.errors import sentences
from specdemo.models.loader import Pair, load_pair
from specdemo.paths import ASSETS

FOLDER = ASSETS / "traces"
MOST_BYTES = 100_000
TRIES = 3
"""Runs of which the quickest is kept: what else the machine does only ever adds time."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded run: a prompt of the project's own set by its id, and what to run on it."""

    id: str
    prompt: str
    drafter: str = "prompt-lookup"
    gamma: int = 5
    temperature: float = 0.0
    tokens: int = 64
    seed: int = 1
    knobs: tuple[tuple[str, str], ...] = ()
    hero: bool = False

    def config(self) -> RunConfig:
        """The settings of the run."""
        return RunConfig(
            prompt=self._prompt().text,
            drafter=self.drafter,
            gamma=self.gamma,
            sampling=SamplingConfig(self.temperature),
            max_new_tokens=self.tokens,
            seed=self.seed,
            knobs=self.knobs,
        )

    def title(self, language: str) -> str:
        """What the menu shows."""
        drafter = sentences(language)[f"player.drafter.{self.drafter}"]
        return f"{self._prompt().title(language)} · {drafter}, γ {self.gamma}, T {self.temperature:g}"

    def _prompt(self) -> prompts.Prompt:
        return next(prompt for prompt in prompts.load_prompts() if prompt.id == self.prompt)


RECORDINGS = (
    Recording("hero", "curie-names", drafter="hybrid", gamma=6, hero=True),
    Recording("foil", "photosynthesis", tokens=40),
    Recording("copy-sampled", "lighthouse", temperature=0.7, tokens=48),
    Recording("code", "calculator", gamma=4, tokens=48),
    Recording("tiny-model", "photosynthesis", drafter="tiny-model", gamma=3, tokens=36),
    Recording("feature-head", "photosynthesis", drafter="feature-head", gamma=3, tokens=36),
    Recording("hybrid-sampled", "calculator", drafter="hybrid", gamma=4, temperature=0.7, tokens=40),
    Recording("ngram", "water-cycle", drafter="ngram", gamma=3, tokens=40),
    Recording("quantised", "printing-press", drafter="quantised", gamma=3, tokens=56),
    Recording("quantised-sampled", "village", drafter="quantised", gamma=4, temperature=0.8, tokens=40),
    Recording("layer-skip", "machine-learning", drafter="layer-skip", gamma=3, tokens=40),
    Recording("dial-sampled", "gravity", drafter="dial-alpha", temperature=0.7, tokens=40, knobs=(("alpha", "0.7"),)),
)
"""From the page's first picture to the lessons that follow: much gained, nothing gained, coins, other drafts."""


def main(argv: Sequence[str] | None = None) -> int:
    """Records all of them anew, or those named."""
    options = argparse.ArgumentParser(prog="python -m specdemo.recording", description="Record the page's runs anew.")
    options.add_argument("--out", type=Path, default=FOLDER)
    options.add_argument("--only", nargs="*", default=[one.id for one in RECORDINGS], metavar="ID")
    args = options.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    device = Device()
    pair = device.call(lambda: load_pair(RunConfig().pair))
    try:
        for recording in RECORDINGS:
            if recording.id in args.only:
                print(_write(device, pair, recording, args.out), flush=True)
    finally:
        device.shutdown()
    index = [
        {"id": one.id, "titles": {name: one.title(name) for name in ("en", "zh")}, "hero": one.hero}
        for one in RECORDINGS
    ]
    (args.out / "index.json").write_text(json.dumps(index, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


def _write(device: Device, pair: Pair, recording: Recording, folder: Path) -> str:
    """Runs one and writes it; says in a line what came out."""
    config = recording.config()
    # Once unrecorded: what is compiled, packed or quantised at first use belongs to no run.
    list(device.stream(lambda: _events(pair, replace(config, max_new_tokens=4))))
    tries = [tuple(device.stream(lambda: _events(pair, config))) for _ in range(TRIES)]
    events = min(tries, key=_seconds)
    header = trace.header(config, lanes.models_of(pair, config), datetime.now(UTC))
    text = "".join(line + "\n" for line in wire.encode(header, events, pair.text.label))
    size = len(text.encode())
    if size > MOST_BYTES:
        raise SystemExit(f"{recording.id} has {size} bytes, at most {MOST_BYTES}: give it fewer tokens")
    (folder / f"{recording.id}.jsonl").write_text(text, encoding="utf-8")
    comparison = collect(events).compare(lanes.SPECULATIVE, lanes.BASELINE)
    return f"{recording.id}: {size // 1000} KB, {comparison.tokens} tokens, speedup {comparison.speedup or 0:.2f}"


def _seconds(events: tuple[Event, ...]) -> float:
    """Device time of all lanes."""
    return sum(lane.metrics.decode_s for lane in collect(events).lanes.values() if lane.metrics)


def _events(pair: Pair, config: RunConfig) -> Iterator[Event]:
    """The race; laws are kept of the drafting lane alone. On the device thread."""
    both = lanes.against_baseline(config)
    opened = {name: lanes.open_lane(pair, one, name, inspect=name == lanes.SPECULATIVE) for name, one in both.items()}
    return race(opened)


if __name__ == "__main__":
    raise SystemExit(main())
