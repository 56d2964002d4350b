"""The command line: `python -m specdemo <command>`.

Knows how to ask for a run and how to print one. Decides nothing about decoding. stdout carries the result,
stderr the progress; a user's error is one line on stderr. Exit codes: 0 done, 1 refused or failed, 2 wrong
usage or setting, 130 interrupted.
"""

import argparse
import io
import json
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console

from specdemo import __version__, drafters, lanes, prompts, terminal, trace
from specdemo.config import DTYPES, POLICIES, RULES, RunConfig, SamplingConfig
from specdemo.core.events import Event
from specdemo.core.result import Results
from specdemo.device import Device
from specdemo.errors import Cancelled, SettingError, UserError
from specdemo.models.loader import Pair, load_pair
from specdemo.models.presets import PAIR_HELP, suited
from specdemo.outcome import Outcome, judge
from specdemo.report import report

Args = argparse.Namespace


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    speak_utf8()
    args = parser().parse_args(argv)
    try:
        return int(args.run(args))
    except SettingError as error:
        return complain(str(error), 2)
    except UserError as error:
        return complain(str(error), 1)
    except (KeyboardInterrupt, Cancelled):
        return complain("Stopped.", 130)
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone; nothing is left to say
        return 1


def speak_utf8() -> None:
    """τ, α and 中文 go into any file or pipe, on Windows too, where the code page of the country has none of them."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")


def complain(sentence: str, code: int) -> int:
    """One line on stderr, and the exit code back."""
    print("specdemo: " + " ".join(sentence.split()), file=sys.stderr)
    return code


class OneLineParser(argparse.ArgumentParser):
    """An argument parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        sys.exit(complain(f"{message}. See: {self.prog} --help", 2))


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    top = OneLineParser(prog="python -m specdemo", description="Speculative decoding to see, check and measure.")
    top.add_argument("--version", action="version", version=f"specdemo {__version__}")
    commands = top.add_subparsers(required=True, metavar="command")

    fetch = commands.add_parser("fetch", help="get a pair's files, so that later starts need no network")
    add_model_options(fetch)
    fetch.set_defaults(run=run_fetch)

    generate = commands.add_parser("generate", help="one run; tokens coloured by fate")
    _add_run_options(generate)
    generate.set_defaults(run=run_generate)

    race = commands.add_parser("race", help="the same run with and without a draft, side by side by device clocks")
    _add_run_options(race)
    race.set_defaults(run=run_race)

    replay = commands.add_parser("replay", help="show a recorded trace again; no model is loaded")
    replay.add_argument("file", type=Path)
    replay.add_argument("--json", action="store_true", help="one JSON object on stdout and nothing else")
    replay.set_defaults(run=run_replay)

    from specdemo.bench import command as bench
    from specdemo.distill import command as distill
    from specdemo.distill import train_ngram
    from specdemo.doctor import command as doctor
    from specdemo.prove import command as prove

    bench_parser = commands.add_parser("bench", help="measure drafters, γ and temperatures over prompts")
    bench.add_arguments(bench_parser)
    bench_parser.set_defaults(run=bench.main)
    prove_parser = commands.add_parser("prove", help="rules of verification against the tests of losslessness")
    prove.add_arguments(prove_parser)
    prove_parser.set_defaults(run=prove.main)
    train = commands.add_parser("train-ngram", help="train an n-gram draft on text, in the target's token ids")
    train_ngram.add_arguments(train)
    train.set_defaults(run=train_ngram.main)
    distill_parser = commands.add_parser("distill", help="train drafts for the target on text that it writes itself")
    distill.add_arguments(distill_parser)
    distill_parser.set_defaults(run=distill.main)
    doctor_parser = commands.add_parser("doctor", help="is this machine ready, and what to do where it is not")
    doctor.add_arguments(doctor_parser)
    doctor_parser.set_defaults(run=doctor.main)
    return top


def add_model_options(command: argparse.ArgumentParser) -> None:
    """Which models, in what precision, where."""
    command.add_argument("--pair", default=RunConfig().pair, help=PAIR_HELP)
    command.add_argument("--dtype", default="auto", help=", ".join(DTYPES))
    command.add_argument("--device", default="auto", help="auto, cpu, cuda, mps")


def _add_run_options(command: argparse.ArgumentParser) -> None:
    add_model_options(command)
    plain = RunConfig()
    command.add_argument("--prompt", help="text, or - to read it from stdin (default: the demo's first prompt)")
    command.add_argument("--raw", action="store_true", help="feed the prompt as it is, without the chat template")
    command.add_argument(
        "--drafter", help=f"none (baseline), {', '.join(drafters.ids())} (default: the best of the pair)"
    )
    command.add_argument("--knob", action="append", default=[], metavar="NAME=VALUE", help="a setting of the drafter")
    command.add_argument("--gamma", help="tokens proposed in a round (the most, if adaptive)")
    command.add_argument("--policy", default=plain.policy, help=", ".join(POLICIES))
    command.add_argument("--exact", action="store_true", help="lanes equal bit by bit: every pass equally wide")
    command.add_argument("--rule", default=plain.rule, help=", ".join(RULES))
    command.add_argument("--confidence", default=plain.confidence, help="for policy confidence: least max q")
    command.add_argument("--temperature", default=plain.sampling.temperature, help="0 is greedy")
    command.add_argument("--top-k", default=plain.sampling.top_k, help="0 keeps all")
    command.add_argument("--top-p", default=plain.sampling.top_p, help="1 keeps all")
    command.add_argument("--seed", default=plain.seed)
    command.add_argument("--max-new-tokens", default=plain.max_new_tokens)
    command.add_argument("--min-new-tokens", default=plain.min_new_tokens)
    command.add_argument("--stop", action="append", default=[], help="a string that ends the run; may be repeated")
    command.add_argument("--record", type=Path, help="write the run to a trace file")
    command.add_argument("--json", action="store_true", help="one JSON object on stdout and nothing else")


def run_config(args: Args) -> RunConfig:
    """The settings given on the command line, checked."""
    prompt = args.prompt
    if prompt is None:
        prompt = prompts.hero().text
    elif prompt == "-":
        prompt = sys.stdin.buffer.read().decode("utf-8", errors="replace")
    start = suited(args.pair)
    return RunConfig(
        prompt=prompt,
        pair=args.pair,
        drafter=args.drafter or start.drafter,
        gamma=start.gamma if args.gamma is None else args.gamma,
        policy=args.policy,
        confidence=args.confidence,
        sampling=SamplingConfig(args.temperature, args.top_k, args.top_p),
        seed=args.seed,
        max_new_tokens=args.max_new_tokens,
        min_new_tokens=args.min_new_tokens,
        stop=tuple(args.stop),
        raw=args.raw,
        dtype=args.dtype,
        knobs=tuple(_knob(text) for text in args.knob),
        rule=args.rule,
        exact=args.exact,
    )


def _knob(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise SettingError("knob_syntax", value=text)
    return name, value


@contextmanager
def session(args: Args) -> Iterator[tuple[Device, Pair]]:
    """The device thread with a loaded pair; progress on stderr; an interrupt cancels the load."""
    device, cancelled = Device(), threading.Event()
    try:
        with terminal.LoadProgress() as progress:
            pair = device.call(lambda: load_pair(args.pair, args.dtype, args.device, progress, cancelled.is_set))
        yield device, pair
        device.call(pair.close)
    finally:
        cancelled.set()
        device.shutdown()


def run_fetch(args: Args) -> int:
    """`fetch`: loads the pair once, which leaves its files in the cache."""
    with session(args) as (_, pair):
        print(f"{pair.target_name}: ready ({pair.dtype} on {pair.device})")
    return 0


def run_generate(args: Args) -> int:
    """`generate`: one lane."""
    config = run_config(args)
    name = lanes.BASELINE if config.drafter == "none" else lanes.SPECULATIVE
    return _run(args, config, {name: config}, show=name)


def run_race(args: Args) -> int:
    """`race`: the run against its baseline."""
    config = run_config(args)
    if config.drafter == "none":
        raise SettingError("race_needs_drafter")
    return _run(args, config, lanes.against_baseline(config), show=lanes.SPECULATIVE)


def _run(args: Args, config: RunConfig, configs: dict[str, RunConfig], show: str) -> int:
    console = Console(stderr=args.json)
    with session(args) as (device, pair):
        costs = device.call(lambda: lanes.costs_of(pair, config)) if config.policy == "goodput" else None
        inspect = args.record is not None or (len(configs) > 1 and config.sampling.greedy)
        results = Results()
        with device.stream(lambda: lanes.open_race(pair, configs, inspect, costs=costs)) as events:
            watched: Iterator[Event] = results.watch(events)
            if args.record is not None:
                header = trace.header(config, lanes.models_of(pair, config), datetime.now(UTC))
                watched = trace.record(watched, header, args.record, pair.text.label)
            _show(console, watched, pair.text.label, show, args.json)
        outcome = device.call(lambda: _judge(results, pair)) if len(configs) > 1 else None
        extra = {"peak_memory_bytes": pair.peak_memory(), "dtype": pair.dtype, "device": pair.device}
        extra |= quantised_facts(pair, config)
    _report(console, results, outcome, extra, args.json)
    return 0


def quantised_facts(pair: Pair, config: RunConfig) -> dict[str, Any]:
    """What a quantised copy really is: layers, its bytes and the target's; nothing for other drafters."""
    if config.drafter != "quantised":
        return {}
    scheme = dict(config.knobs).get("scheme", drafters.entry("quantised").knobs[0].default)
    return {"quantised": {"scheme": scheme, **asdict(pair.quantised_report(str(scheme)))}}


def _judge(results: Results, pair: Pair) -> Outcome:
    return judge(results, lanes.SPECULATIVE, lanes.BASELINE, pair.target)


def run_replay(args: Args) -> int:
    """`replay`: a recorded run, shown from its events."""
    recorded = trace.read(args.file)
    console = Console(stderr=args.json)
    results = Results()
    names = [event.lane for event in recorded.events]
    show = lanes.SPECULATIVE if lanes.SPECULATIVE in names else names[0]
    console.print(
        f"recorded {recorded.header.recorded} on {recorded.header.hardware.get('processor', '?')}", style="dim"
    )
    _show(console, results.watch(trace.replay(recorded)), recorded.label, show, args.json)
    _report(console, results, None, {}, args.json)
    return 0


def _show(console: Console, events: Iterator[Event], label: terminal.Label, lane: str, quiet: bool) -> None:
    """Reads the stream to its end, writing the lane unless quiet."""
    watched = events if quiet else terminal.TokenView(console, label, lane).watch(events)
    for _ in watched:
        pass


def _report(console: Console, results: Results, outcome: Outcome | None, extra: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(report(results, outcome) | extra, allow_nan=False, ensure_ascii=False))
        return
    console.print()
    console.print(terminal.legend())
    first = next(iter(results.lanes.values()))
    if first.finished is not None:
        console.print(f"finished: {first.finished.finish_reason} ({first.finished.detail})", style="dim", markup=False)
    if first.metrics is not None:
        console.print(terminal.metrics_table(first.metrics))
    if outcome is not None:
        for line in terminal.outcome_lines(outcome, results):
            console.print(line, highlight=False, markup=False)
    if copied := extra.get("quantised"):
        sizes = f"{copied['bytes'] / 1e6:.0f} MB against {copied['target_bytes'] / 1e6:.0f} MB"
        console.print(f"{copied['scheme']} copy: {copied['layers']} layers quantised, {sizes}", highlight=False)
