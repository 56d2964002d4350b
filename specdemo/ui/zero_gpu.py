"""ZeroGPU of Hugging Face Spaces: a GPU lent for one run at a time to a process that is forked for it.

Knows the rules of the `spaces` package: it is imported before anything uses CUDA; models are placed on "cuda" before
the page is served; what goes in and comes out is pickled; the lent process shares no memory with the page. Does not
know widgets. Everything else on the page (Measure, Prove, training) computes on the Space's own processors.
"""

import html
import importlib
import math
import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any

import gradio as gr
import torch

from specdemo import lanes, trace
from specdemo.config import RunConfig
from specdemo.errors import Cancelled, CapacityError, SettingError, UserError
from specdemo.models.loader import Pair, load_models
from specdemo.ui import logs
from specdemo.ui.hosting import Settings
from specdemo.ui.run import Stop
from specdemo.ui.runs import Runs
from specdemo.ui.stream import pieces
from specdemo.wire import Encoder, header_line

FLAG = "SPACES_ZERO_GPU"
TORCH = ("2.8.0", "2.9.1", "2.10.0", "2.11.0")
"""The versions of torch that ZeroGPU takes."""
START_S, TOKENS_PER_S = 10.0, 30.0
"""What a run is expected to take: models are moved to the GPU and tried, then decode at this speed or faster."""
MARGIN_S = 1.0
"""A run ends by itself so long before the GPU is taken away."""

Make = Callable[[], Pair]
"""Makes a pair of models that are placed already. In the lent process only: it tries them."""
OnGPU = Callable[[RunConfig], Generator["str | Refused", None, None]]


@dataclass(frozen=True, slots=True)
class Refused:
    """A user's error on its way out of the lent process."""

    key: str
    params: dict[str, object]


def lent(environment: Mapping[str, str]) -> bool:
    """True on a Space with ZeroGPU."""
    return environment.get(FLAG, "").lower() in ("1", "t", "true")


def prepare(
    settings: Settings, environment: Mapping[str, str], place: Callable[[str, str], Make] | None = None
) -> tuple[Settings, Callable[..., Runs]]:
    """What the page is built with: the settings and `Runs` as they are, or what ZeroGPU makes of them.

    To be called once, before the page is built. place: (spec, dtype), in place of `placed`. SettingError if this Space
    cannot work.
    """
    if not lent(environment):
        return settings, Runs
    spaces = _package()
    # All pairs on offer are placed now: later is too late.
    pairs = settings.pairs if settings.pairs != Settings().pairs else settings.pairs[:1]
    makers = {spec: (place or placed)(spec, settings.dtype) for spec in pairs}
    run = spaces.GPU(on_gpu(makers, settings.max_seconds), duration=partial(duration, most_s=settings.max_seconds))
    return replace(settings, pairs=pairs, any_pair=False, device="cpu"), partial(ZeroRuns, run)


def _package() -> ModuleType:
    """`spaces`, which changes what torch calls "cuda". SettingError where it cannot work."""
    version = torch.__version__.partition("+")[0]
    if version not in TORCH:
        raise SettingError("zero_gpu_torch", version=version, choices=", ".join(TORCH), best=TORCH[-1])
    try:
        return importlib.import_module("spaces")
    except ImportError:
        raise SettingError("zero_gpu_package") from None


def placed(spec: str, dtype: str) -> Make:
    """Reads the models of a pair and places them; where the GPU is lent they are moved to it."""
    preset, loaded = load_models(spec, "bfloat16" if dtype == "auto" else dtype, "cpu")
    models = [replace(one, model=one.model.to("cuda")) for one in loaded]
    return lambda: Pair(preset, *models)


def duration(config: RunConfig, most_s: float) -> int:
    """Seconds of GPU to ask for: few, for they count against the visitor's day and decide the place in line."""
    lanes_run = 1 if config.drafter == "none" else 2
    return math.ceil(min(START_S + lanes_run * config.max_new_tokens / TOKENS_PER_S, most_s))


def on_gpu(makers: Mapping[str, Make], most_s: float) -> OnGPU:
    """The function that the lent process runs: settings → pieces of the trace, a refusal as the last one if need be."""
    pairs: dict[str, Pair] = {}  # a process that is lent again has them still

    def run(config: RunConfig) -> Generator[str | Refused, None, None]:
        end = time.monotonic() + duration(config, most_s) - MARGIN_S
        torch.set_num_threads(1)  # of the page's threads none came along
        try:
            if config.pair not in pairs:
                pairs[config.pair] = makers[config.pair]()
            yield from _pieces(pairs[config.pair], config, lambda: time.monotonic() > end)
        except UserError as error:
            yield Refused(error.key, error.params)
            return
        if time.monotonic() > end:
            yield Refused("run_seconds", {"most": duration(config, most_s)})

    return run


def _pieces(pair: Pair, config: RunConfig, over: Callable[[], bool]) -> Iterator[str]:
    costs = lanes.costs_of(pair, config) if config.policy == "goodput" else None
    configs = lanes.entrants(config)
    header = header_line(trace.header(config, lanes.models_of(pair, config)))
    events = lanes.open_race(pair, configs, inspect=True, cancelled=over, costs=costs)
    yield from pieces([header], events, Encoder(pair.text.label).encode)


class ZeroRuns(Runs):
    """Runs that go to the lent GPU. ZeroGPU has a line of its own, so nobody waits in ours."""

    def __init__(self, run: OnGPU, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._run = run

    @contextmanager
    def asked(self, config: RunConfig, visitor: str) -> Iterator["ZeroRun"]:
        with self.stoppable(visitor) as stopped:
            yield ZeroRun(self._run, config, stopped)


class ZeroRun:
    """One run on the lent GPU, as `run.Run` is one on the device thread."""

    def __init__(self, run: OnGPU, config: RunConfig, stopped: Stop) -> None:
        self._run, self._config, self._stopped = run, config, stopped
        self._record = logs.RunRecord(config)

    def waits(self) -> Iterator[None]:
        """Nothing to wait for: ZeroGPU's line is waited in before the first piece."""
        return iter(())

    def pieces(self) -> Iterator[str]:
        """The trace, piece by piece. `CapacityError` where no GPU was given or the run was cut short."""
        outcome = "left"
        lent_run = self._run(self._config)
        try:
            for piece in lent_run:
                if isinstance(piece, Refused):
                    raise CapacityError(piece.key, **piece.params)
                if self._stopped():
                    raise Cancelled
                self._record.first_token()
                yield piece
            outcome = "finished"
        except Cancelled:
            outcome = "stopped"
            raise
        except CapacityError as error:
            outcome = error.key
            raise
        except gr.Error as error:  # ZeroGPU says no, or its process died
            outcome = "zero_gpu_refused"
            raise CapacityError(outcome, reason=_plain(error.message)) from error
        finally:
            lent_run.close()
            self._record.write(outcome)


def _plain(message: object) -> str:
    """What ZeroGPU says, without its markup."""
    return html.unescape(re.sub(r"<[^>]*>", "", str(message))).strip().rstrip(".")
