"""Training rows, nets and the loop: on a tiny target and text made of numbers."""

import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from tiny_models import ROWS, save, tiny

from specdemo import cli
from specdemo.distill.conversations import Script
from specdemo.distill.dataset import HELD_OUT, Rows, batch, batches, frequent, load_rows, packed
from specdemo.distill.judge import judge
from specdemo.distill.nets import FeatureHead, TinyModel, causal
from specdemo.distill.objective import FIRST_CHOICE, divergence, teacher
from specdemo.distill.sampler import Conversation, Role
from specdemo.distill.shards import write_head, write_shard
from specdemo.distill.train import Plan, Training, loss_of
from specdemo.drafters.draft_file import FEATURE_HEAD, TINY_MODEL, Weights

MODEL = tiny("llama", seed=3)
HEAD = (5, 6, 7)
LENGTH = 48


def conversation(seed: int, size: int) -> Conversation:
    coin = random.Random(seed)
    tokens = [coin.randrange(10, 60) for _ in range(size)]
    roles = [Role.GIVEN] * 2 + [Role.TEMPLATE] * 2 + [Role.ANSWER] * (size - 4)
    with torch.no_grad():
        states = MODEL.model(input_ids=torch.tensor([[*HEAD, *tokens]])).last_hidden_state[0, len(HEAD) : -1]
    return Conversation(Script("task", (), 0, 1.0, 0.0), tokens, roles, states)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two shards with 60 conversations each."""
    path = tmp_path_factory.mktemp("text")
    with torch.no_grad():
        write_head(path, HEAD, MODEL.model(input_ids=torch.tensor([HEAD])).last_hidden_state[0])
    for shard in range(2):
        write_shard(path, shard, [conversation(60 * shard + i, 8 + i % 13) for i in range(60)])
    return path


def turn(rows: Rows, i: int) -> tuple[int, ...]:
    start, _ = rows.spans[i]
    return tuple(rows.tokens[start : start + 4].tolist())


def test_some_conversations_are_kept_from_training(folder: Path) -> None:
    trained, held_out = load_rows(folder, False), load_rows(folder, True)
    assert len(held_out.spans) == 120 // HELD_OUT
    assert len(trained.spans) == 120 - 120 // HELD_OUT
    everything = {turn(trained, i) for i in range(len(trained.spans))}
    assert not everything & {turn(held_out, i) for i in range(len(held_out.spans))}


def test_questions_that_judge_are_left_out(folder: Path) -> None:
    rows = load_rows(folder, False)
    excluded = frozenset({turn(rows, 3), turn(rows, 30)})
    fewer = load_rows(folder, False, excluded)
    assert len(fewer.spans) == len(rows.spans) - 2
    assert not excluded & {turn(fewer, i) for i in range(len(fewer.spans))}


def test_rows_line_up(folder: Path) -> None:
    """Each row has its id, the states before and at it, and the id that follows; answers alone count."""
    rows = load_rows(folder, False)
    pack = [4, 9]
    one = batch(rows, [pack], LENGTH)
    put = len(HEAD)
    for number, i in enumerate(pack, start=1):
        start, end = rows.spans[i]
        n = end - start - 1
        assert one.tokens[0, put : put + n].tolist() == rows.tokens[start : end - 1].tolist()
        assert one.follows[0, put : put + n].tolist() == rows.tokens[start + 1 : end].tolist()
        assert torch.equal(one.at[0, put : put + n], rows.hidden[start : end - 1])
        assert torch.equal(one.before[0, put], rows.head_hidden[-1])
        assert torch.equal(one.before[0, put + 1 : put + n], rows.hidden[start : end - 2])
        assert one.weight[0, put : put + n].tolist() == [0, 0, 0] + [1] * (n - 3)
        assert one.place[0, put : put + n].tolist() == list(range(len(HEAD), len(HEAD) + n))
        assert one.segment[0, put : put + n].unique().tolist() == [number]
        put += n
    assert one.segment[0, put:].unique().tolist() == [-1]


def test_packs_hold_every_conversation_once_and_little_air(folder: Path) -> None:
    rows = load_rows(folder, False)
    packs = packed(rows, list(range(len(rows.spans))), LENGTH)
    assert sorted(i for pack in packs for i in pack) == list(range(len(rows.spans)))
    sizes = [sum(rows.spans[i][1] - rows.spans[i][0] - 1 for i in pack) for pack in packs]
    assert max(sizes) <= LENGTH - len(HEAD)
    assert sum(sizes) > 0.8 * len(packs) * (LENGTH - len(HEAD))


def test_neighbours_in_a_pack_do_not_see_each_other(folder: Path) -> None:
    """Features in a pack are those of the conversation alone, at every unrolled depth that counts."""
    rows = load_rows(folder, False)
    net, embedding = FeatureHead(MODEL, (2,)), MODEL.get_input_embeddings().weight
    both, alone = batch(rows, [[4, 9]], LENGTH), batch(rows, [[9]], LENGTH)
    with torch.no_grad():
        a, b = (net.features(embedding[x.tokens], x.before, x.place, causal(x.segment), 3) for x in (both, alone))
    start, count = len(HEAD) + rows.spans[4][1] - rows.spans[4][0] - 1, rows.spans[9][1] - rows.spans[9][0] - 1
    for depth in range(3):
        there = a[depth][0, start + depth : start + count]
        here = b[depth][0, len(HEAD) + depth : len(HEAD) + count]
        assert torch.allclose(there, here, atol=1e-4), depth


def test_the_gradient_of_the_divergence() -> None:
    """Against autograd on the plain formula."""
    generator = torch.Generator().manual_seed(0)
    feature = torch.randn(300, 16, generator=generator, requires_grad=True)
    head, at = torch.randn(40, 16, generator=generator), torch.randn(300, 16, generator=generator)
    weight = torch.rand(300, generator=generator)
    p, first = teacher(at, head)
    divergence(feature, head, p, first, weight).backward()
    found, feature.grad = feature.grad, None
    wanted = p * (1 - FIRST_CHOICE) + torch.nn.functional.one_hot(first, 40) * FIRST_CHOICE
    (-(wanted * (feature @ head.T).log_softmax(-1)).sum(-1) * weight).sum().backward()
    assert found is not None
    assert torch.allclose(found, feature.grad, atol=1e-5)


def test_the_rate_rises_stays_and_falls() -> None:
    plan = Plan(steps=100, warmup=10, decay=0.5)
    rates = [plan.rate_at(step) for step in range(101)]
    assert all(a < b for a, b in pairwise(rates[:10]))
    assert rates[10:50] == [plan.rate] * 40
    assert all(a > b for a, b in pairwise(rates[50:]))
    assert rates[100] == 0


def trainer(kind: str, folder: Path, out: Path, steps: int) -> Training:
    net = TinyModel(MODEL, (0, 2)) if kind == TINY_MODEL else FeatureHead(MODEL, (2,))
    rows = MODEL.get_output_embeddings().weight.detach()
    plan = Plan(steps, packs=2, length=LENGTH, warmup=2, save_every=5, unroll=2 if kind == FEATURE_HEAD else 1)
    return Training(net, MODEL.get_input_embeddings().weight.detach(), rows, plan, out)


def run(training: Training, folder: Path) -> Sequence[float]:
    losses: list[float] = []
    training.run(lambda: load_rows(folder, False), lambda at, loss: losses.append(loss))
    return losses


@pytest.mark.parametrize("kind", [FEATURE_HEAD, TINY_MODEL])
def test_training_learns_and_a_stopped_one_goes_on(kind: str, folder: Path, tmp_path: Path) -> None:
    losses = run(trainer(kind, folder, tmp_path, steps=30), folder)
    assert losses[-1] < losses[0]
    resumed = trainer(kind, folder, tmp_path, steps=40)
    assert resumed.at.step == 30
    run(resumed, folder)
    assert resumed.at.step == 40
    rows = load_rows(folder, True)
    tables = MODEL.get_input_embeddings().weight.detach(), MODEL.get_output_embeddings().weight.detach()
    found = judge(resumed.net, rows, *tables, torch.arange(ROWS), LENGTH, depths=3)
    assert all(0 <= share <= 1 for share in (*found.alpha, *found.agree))
    assert 1 <= found.tau <= 4


def test_a_perfect_net_is_judged_perfect(folder: Path) -> None:
    """All layers of the target as a tiny model: α and agreement 1, τ as large as the depths allow but at the ends."""
    net = TinyModel(MODEL, (0, 1, 2))
    tables = MODEL.get_input_embeddings().weight.detach(), MODEL.get_output_embeddings().weight.detach()
    found = judge(net, load_rows(folder, True), *tables, torch.arange(ROWS), LENGTH, depths=2)
    assert min(found.alpha) > 0.95  # bf16
    assert min(found.agree) > 0.85
    assert found.tau > 2.5


def test_only_rows_that_count_reach_the_loss(folder: Path) -> None:
    rows = load_rows(folder, False)
    one = next(batches(rows, 2, LENGTH, random.Random(0)))
    net, head = TinyModel(MODEL, (0, 2)), MODEL.get_output_embeddings().weight.detach().to(torch.bfloat16)
    embedding = MODEL.get_input_embeddings().weight.detach()
    before = float(loss_of(net, one, embedding, head, 1).detach())
    one.at[one.weight == 0] = 100.0
    assert float(loss_of(net, one, embedding, head, 1).detach()) == before


def test_frequent_ids(folder: Path) -> None:
    ids = frequent(folder, 20, always=(2,))
    assert len(ids) == 20
    assert ids.tolist() == sorted(ids.tolist())
    assert 2 in ids.tolist()


def test_the_whole_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From a model folder to files that load, and figures for every group of prompts."""
    model = save(tmp_path / "model", tiny("llama"))
    given = ["distill", "--pair", model, "--tokens", "6000", "--steps", "3", "--folder", str(tmp_path / "work")]
    out = tmp_path / "drafts"
    for stage in ("text", "train"):
        assert cli.main([*given, "--stage", stage, "--out", str(out)]) == 0
    names = sorted(path.name.split("-model-")[0] for path in out.iterdir())
    assert len(names) == 2
    for path in out.iterdir():
        kind = FEATURE_HEAD if path.name.startswith(FEATURE_HEAD) else TINY_MODEL
        made = Weights.load(path, kind, 259, 64)
        assert {"trained_on", "steps", "hours", "held_out", "licence"} <= made.header.keys()
    assert "ids of answers" in capsys.readouterr().err


def test_training_without_text_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = save(tmp_path / "model", tiny("llama"))
    assert cli.main(["distill", "--pair", model, "--stage", "train", "--folder", str(tmp_path / "none")]) == 1
    assert "--stage text" in capsys.readouterr().err
