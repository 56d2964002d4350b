"""The options of `bench` and the plan they ask for. Knows the command line; loads and measures nothing."""

import argparse
from pathlib import Path

from specdemo import prompts
from specdemo.bench.plan import Choice, Plan, choose
from specdemo.config import DTYPES, MAX_GAMMA, MAX_TEMPERATURE, RunConfig, real, whole
from specdemo.models.presets import PAIR_HELP, suited

Args = argparse.Namespace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `bench`."""
    parser.add_argument("--pair", default=RunConfig().pair, help=PAIR_HELP)
    parser.add_argument("--dtype", default="auto", help=", ".join(DTYPES))
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, mps")
    parser.add_argument("--drafters", help="A,B; with settings: A:name=value:policy=goodput (prompt-lookup,layer-skip)")
    parser.add_argument("--gammas", help="tokens proposed in a round (1,3,5,7; --peers 5; --growth 1…16)")
    parser.add_argument("--temperatures", help="0 is greedy (0,1; --headline 0,0.7,1)")
    parser.add_argument("--max-new-tokens", default=96)
    parser.add_argument("--prompts", type=Path, metavar="FILE", help="your own: .txt, .csv, .json, .jsonl")
    parser.add_argument("--groups", default="", help=f"only these, of our set: {', '.join(prompts.GROUPS)}")
    parser.add_argument("--limit", help="at most so many prompts of each group")
    parser.add_argument("--repeat", help="times that every prompt is run (1; with --peers 3)")
    parser.add_argument("--seed", default=0)
    parser.add_argument("--raw", action="store_true", help="feed prompts as they are, without the chat template")
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep results here; the same command goes on from them")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write one row per prompt and lane")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout and nothing else")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--headline", action="store_true", help="the page's default drafter over all prompts")
    kinds.add_argument("--peers", action="store_true", help="ours beside transformers' generate; greedy")
    kinds.add_argument("--growth", action="store_true", help="longer contexts, wider passes, more runs at once")
    kinds.add_argument("--shapes", metavar="A,B", help="speed of models of these shapes with random weights")
    parser.add_argument("--full", action="store_true", help="for --growth: also 8k tokens, or what the model takes")
    parser.add_argument("--early-exit", default=10, metavar="K", help="for --peers: layers that draft")
    parser.add_argument("--alpha", default=0.8, help="for --shapes: chance that a proposal is kept")


def plan_of(args: Args) -> Plan:
    """The plan that the options ask for, checked before anything is loaded."""
    found = prompts.read_prompts(args.prompts) if args.prompts else prompts.load_prompts()
    limit = None if args.limit is None else whole("limit", args.limit, 1, prompts.MOST)
    return Plan(
        prompts=choose(found, _list(args.groups), limit),
        choices=_choices(args),
        gammas=tuple(whole("gammas", text, 0, MAX_GAMMA) for text in _list(args.gammas, _gammas(args))),
        temperatures=tuple(
            real("temperatures", text, 0.0, MAX_TEMPERATURE)
            for text in _list(args.temperatures, "0,0.7,1" if args.headline else "0,1")
        ),
        max_new_tokens=whole("max_new_tokens", args.max_new_tokens, 1, 10**6),
        repeat=whole("repeat", args.repeat or (3 if args.peers else 1), 1, 1000),
        seed=whole("seed", args.seed, 0, 2**53),
        raw=args.raw,
        pair=args.pair,
        dtype=args.dtype,
        device=args.device,
    )


def _choices(args: Args) -> tuple[Choice, ...]:
    """The drafters named, else the page's own for the headline, else the two that every pair has."""
    if args.headline and args.drafters is None:
        return (Choice(suited(args.pair).drafter),)
    return tuple(Choice.parse(text) for text in _list(args.drafters, "prompt-lookup,layer-skip"))


def _gammas(args: Args) -> str:
    if args.growth:
        return ",".join(map(str, range(1, 17)))
    return str(suited(args.pair).gamma) if args.headline else "5" if args.peers else "1,3,5,7"


def _list(text: str | None, default: str = "") -> tuple[str, ...]:
    """`a, b,a` → ("a", "b"); the default where nothing was given."""
    parts = (default if text is None else text).split(",")
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
