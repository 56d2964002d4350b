"""`python -m specdemo train-ngram`: an n-gram table from text files or from the target's own output.

Knows options and files. Does not know how a table counts or answers.
"""

import argparse
from collections.abc import Iterable
from pathlib import Path

from specdemo import cli, terminal
from specdemo.config import whole
from specdemo.distill.dataset import load_rows
from specdemo.distill.sampler import own_prompts
from specdemo.distill.shards import shard_paths
from specdemo.distill.text import own_text
from specdemo.drafters.ngram_table import NGramTable
from specdemo.drafters.trained import default_paths
from specdemo.errors import PairError, PromptError, SettingError
from specdemo.models.loader import Pair
from specdemo.models.progress import Progress, never

Args = argparse.Namespace
LENGTH = 256
"""Ids of one conversation of the target's own at most."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `train-ngram`."""
    cli.add_model_options(parser)
    parser.add_argument("--text", type=Path, action="append", default=[], metavar="FILE", help="UTF-8; may be repeated")
    parser.add_argument("--own", default=0, metavar="N", help="also N tokens that the target writes itself")
    parser.add_argument("--distilled", type=Path, metavar="FOLDER", help="also the text that `distill` wrote there")
    parser.add_argument("--order", default=4, help="ids in the longest n-gram")
    parser.add_argument("--min-count", default=2, help="leave out n-grams seen less often; keeps the file small")
    parser.add_argument("--seed", default=0, help="for the target's own text")
    parser.add_argument("--out", type=Path, help="the table (default: the user's table for this target)")


def main(args: Args) -> int:
    """Trains and writes the table."""
    own = whole("own", args.own, 0, 10**8)
    order, least = whole("order", args.order, 1, 8), whole("min_count", args.min_count, 1, 10**6)
    seed = whole("seed", args.seed, 0, 2**53)
    if not own and not args.text and not args.distilled:
        raise SettingError("nothing_to_train_on")
    texts = [read_text(path) for path in args.text]
    with cli.session(args) as (device, pair):
        with terminal.LoadProgress() as progress:
            table = device.call(lambda: train(pair, texts, own, order, least, seed, progress, args.distilled))
        path = args.out or default_paths(pair, "ngram")[0]
        table.save(path)
    print(f"{path}: {table.order}-gram table, {table.nbytes / 1e6:.1f} MB, {table.header['trained_on']}")
    return 0


def train(
    pair: Pair,
    texts: Iterable[str],
    own: int,
    order: int,
    least: int,
    seed: int,
    progress: Progress,
    distilled: Path | None = None,
) -> NGramTable:
    """Counts over text files, `own` ids that the target writes, and the conversations in a folder of `distill`."""
    ids = [pair.text.encode(text, raw=True) for text in texts]
    given = sum(len(text) for text in ids)
    ids += own_text(pair, own, LENGTH, seed, progress, never)
    if distilled:
        ids += distilled_text(pair, distilled)
    total = sum(len(text) for text in ids)
    header = {
        "target": pair.target_name,
        "trained_on": f"{given} tokens of given text and {total - given} of the target's own (seed {seed})",
    }
    return NGramTable.train(ids, order, pair.vocabulary, least, header)


def distilled_text(pair: Pair, folder: Path) -> list[tuple[int, ...]]:
    """The conversations that `distill` wrote, without the project's own prompts. PairError if there are none."""
    if not shard_paths(folder):
        raise PairError("distill_no_text", folder=folder)
    rows = load_rows(folder, False, own_prompts(pair), hidden=False)
    return [tuple(rows.tokens[start:end].tolist()) for start, end in rows.spans]


def read_text(path: Path) -> str:
    """The text of a file, or PromptError if it is missing, empty or not UTF-8."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError("text_unreadable", file=path.name, reason=type(error).__name__) from None
    if not text.strip():
        raise PromptError("text_empty", file=path.name)
    return text
