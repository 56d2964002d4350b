"""`python -m specdemo distill`: a draft of one's own for a target, from nothing but the target.

Knows options, stages, folders and what is written into the file. Does not know how text, nets or figures are made.
Every stage goes on from what lies in its folder, so it can be stopped and started at will.
"""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from specdemo import cli
from specdemo.config import one_of, whole
from specdemo.distill.batch_llama import require_llama
from specdemo.distill.dataset import Rows, frequent, load_rows
from specdemo.distill.evaluate import scores
from specdemo.distill.judge import Judgement, judge
from specdemo.distill.make_text import make_text
from specdemo.distill.nets import FeatureHead, Net, TinyModel, weights
from specdemo.distill.sampler import own_prompts
from specdemo.distill.shards import shard_paths
from specdemo.distill.train import Plan, Progressed, Training
from specdemo.drafters.draft_file import FEATURE_HEAD, TINY_MODEL
from specdemo.drafters.trained import default_paths
from specdemo.errors import PairError
from specdemo.models.packed import can_pack
from specdemo.models.pair import Pair
from specdemo.models.progress import never
from specdemo.paths import cache_dir
from specdemo.prompts import load_prompts

Args = argparse.Namespace
STAGES = ("all", "text", "train", "evaluate")
DRAFTS = ("both", FEATURE_HEAD, TINY_MODEL)
IDS = 8192
"""Ids a draft can say: of the default target's text they cover 97 %, and the output layer costs a sixth."""
DEPTHS = 4
JUDGE_EVERY = 500


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `distill`."""
    cli.add_model_options(parser)
    parser.add_argument("--stage", default="all", help=f"{', '.join(STAGES)}; each goes on from what is there")
    parser.add_argument("--draft", default="both", help=", ".join(DRAFTS))
    parser.add_argument("--tokens", default=400_000, help="ids of answers that the target writes")
    parser.add_argument("--steps", default=2_000, help="training steps of about 1,500 ids")
    parser.add_argument("--unroll", default=2, help="draft steps that training unrolls (feature head)")
    parser.add_argument("--seed", default=0)
    parser.add_argument("--folder", type=Path, help="text and checkpoints (default: in the user's cache)")
    parser.add_argument("--out", type=Path, help="folder of the finished drafts (default: where drafters look)")


def main(args: Args) -> int:
    """Runs the stages that were asked for."""
    stage, draft = one_of("stage", args.stage, STAGES), one_of("draft", args.draft, DRAFTS)
    tokens, steps = whole("tokens", args.tokens, 5_000, 10**9), whole("steps", args.steps, 1, 10**7)
    plan = Plan(steps, unroll=whole("unroll", args.unroll, 1, DEPTHS), seed=whole("seed", args.seed, 0, 2**53))
    kinds = [kind for kind in (FEATURE_HEAD, TINY_MODEL) if draft in ("both", kind)]
    with cli.session(args) as (device, pair):
        folder = args.folder or cache_dir() / "distill" / default_paths(pair, "text")[0].stem
        device.call(lambda: run(pair, stage, kinds, tokens, plan, folder, args.out))
    return 0


def say(line: str) -> None:
    """Progress, one line at a time: such a run is left alone for hours."""
    print(f"{time.strftime('%H:%M:%S')}  {line}", file=sys.stderr, flush=True)


def run(pair: Pair, stage: str, kinds: list[str], tokens: int, plan: Plan, folder: Path, out: Path | None) -> None:
    """The stages, on the device thread."""
    require_llama(pair.model, pair.target_name)
    if stage in ("all", "text"):
        dtype = torch.bfloat16 if pair.device != "cpu" or can_pack(torch.bfloat16) else torch.float32
        made = make_text(pair, folder, tokens, plan.seed, _text_progress, never, dtype=dtype)
        say(f"text: {made} ids of answers in {folder}")
    for kind in kinds:
        name = default_paths(pair, kind)[0]
        path = out / name.name if out else name
        if stage in ("all", "train"):
            train(pair, kind, folder, plan, path)
        if stage in ("all", "evaluate"):
            for score in scores(pair, kind, path, load_prompts()):
                print(score, flush=True)


def _text_progress(stage: str, done: int, total: int | None) -> None:
    say(f"{stage}: {done} of {total} ids of answers")


def train(pair: Pair, kind: str, folder: Path, plan: Plan, path: Path) -> None:
    """Trains one draft on the folder's text and writes its file. PairError if there is too little text."""
    excluded = own_prompts(pair)
    if not shard_paths(folder) or not load_rows(folder, True, excluded, hidden=False).spans:
        raise PairError("distill_no_text", folder=folder)
    model = pair.model
    last = model.config.num_hidden_layers - 1
    net: Net = FeatureHead(model, (last,)) if kind == FEATURE_HEAD else TinyModel(model, (0, last))
    if kind == TINY_MODEL:
        plan = replace(plan, unroll=1)
    net = net.to(model.device)
    embedding = model.get_input_embeddings().weight.detach().float()
    head = model.get_output_embeddings().weight.detach()[: pair.vocabulary].float()
    ids = kept_ids(folder, pair)
    training = Training(net, embedding, head[ids], plan, folder)
    if training.at.step:
        say(f"{kind}: goes on from step {training.at.step} of {folder}; another --folder begins anew")
    judged: list[Judgement] = []

    def judge_now() -> None:
        held_out = load_rows(folder, True, excluded)
        judged.append(judge(net, held_out, embedding, head, ids.to(head.device), plan.length, DEPTHS))
        say(f"{kind}: held out: {judged[-1]}")

    def report(at: Progressed, loss: float) -> None:
        say(f"{kind}: step {at.step} of {plan.steps}, loss {loss:.3f}, {at.tokens / at.seconds:.0f} ids/s")
        if at.step % JUDGE_EVERY == 0 and at.step < plan.steps:
            judge_now()

    def rows() -> Rows:
        return load_rows(folder, False, excluded)

    training.run(rows, report)
    judge_now()
    header = card(pair, folder, training.at, judged[-1])
    weights(net, ids, pair.vocabulary, header).save(path)
    say(f"{kind}: {path}, {path.stat().st_size / 1e6:.1f} MB")


def kept_ids(folder: Path, pair: Pair) -> Tensor:
    """The ids that drafts of this folder can say: chosen once, from the text there was then."""
    path = folder / "ids.pt"
    if not path.is_file():
        torch.save(frequent(folder, IDS, pair.end_tokens), path)
    ids: Tensor = torch.load(path, weights_only=True)
    return ids


def card(pair: Pair, folder: Path, at: Progressed, judged: Judgement) -> dict[str, str]:
    """What the file says of itself."""
    rows = load_rows(folder, False)
    answers = int((rows.roles == 3).sum())
    return {
        "target": pair.target_name,
        "trained_on": f"{answers} ids of answers, {len(rows.tokens)} ids in all, written by the target itself",
        "steps": f"{at.step} ({at.tokens} ids seen)",
        "hours": f"{at.seconds / 3600:.2f} of training",
        "held_out": str(judged),
        "licence": f"derived from {pair.target_name}: that model's licence",
    }
