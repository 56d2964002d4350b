"""The command line on a tiny model in a folder: what goes to stdout, what to stderr, and the exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_models import save, tiny

from specdemo.cli import main
from specdemo.paths import ASSETS
from specdemo.terminal import harmless


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save(tmp_path_factory.mktemp("model"), tiny("llama"))


def run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    code = main(args)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def generate(capsys: pytest.CaptureFixture[str], folder: str, *args: str) -> dict:
    code, out, _ = run(capsys, "generate", "--pair", folder, "--prompt", "the cat sat", "--json", *args)
    assert code == 0
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} in the JSON"))


def test_json_is_the_only_thing_on_stdout_and_adds_up(folder, capsys):
    found = generate(capsys, folder, "--drafter", "layer-skip", "--knob", "layers=1", "--max-new-tokens", "20")
    assert {"tokens", "text", "finish_reason", "rounds", "metrics"} <= found.keys()
    assert len(found["tokens"]) == 20
    assert found["finish_reason"] == "length"
    assert sum(r["emitted"] for r in found["rounds"]) == 20
    assert all(r["accepted"] <= r["drafted"] <= r["proposed"] <= 4 for r in found["rounds"])
    assert all(r["emitted"] == r["accepted"] + 1 for r in found["rounds"][:-1])


def test_greedy_answers_are_the_baselines(folder, capsys):
    plain = generate(capsys, folder, "--drafter", "none", "--max-new-tokens", "24")
    assert len(set(plain["tokens"])) >= 10
    for drafter in ("prompt-lookup", "layer-skip", "oracle", "random", "dial-alpha"):
        knob = ("--knob", "layers=2") if drafter == "layer-skip" else ()
        found = generate(capsys, folder, "--drafter", drafter, *knob, "--max-new-tokens", "24")
        assert found["tokens"] == plain["tokens"], drafter


def test_a_quantised_copy_says_what_it_is(folder, capsys):
    found = generate(capsys, folder, "--drafter", "quantised", "--max-new-tokens", "6")
    # Three layers of seven matrices each; the head keeps its precision.
    assert found["quantised"]["layers"] == 21
    assert found["quantised"]["bytes"] < found["quantised"]["target_bytes"]


def test_a_request_beyond_the_context_is_capped_and_says_so(tmp_path, capsys):
    short = save(tmp_path, tiny("llama", max_position_embeddings=48))
    found = generate(capsys, short, "--drafter", "oracle", "--max-new-tokens", str(10**9))
    assert found["finish_detail"] == "context"
    assert found["prompt_tokens"] + len(found["tokens"]) == 48


def test_a_rule_that_judges_blocks_has_tau_and_no_alpha(folder, capsys):
    args = ("--drafter", "layer-skip", "--knob", "layers=2", "--temperature", "1", "--max-new-tokens", "16")
    found = generate(capsys, folder, *args, "--rule", "block")
    assert (found["rule"], found["metrics"]["alpha"], found["metrics"]["tested"]) == ("block", None, 0)
    assert found["metrics"]["tau"] >= 1
    code, out, _ = run(capsys, "generate", "--pair", folder, "--prompt", "the cat sat", *args, "--rule", "block")
    assert code == 0
    assert "undefined" in out


def test_shared_noise_makes_a_sampled_race_say_the_same_twice(folder, capsys):
    args = ("--pair", folder, "--prompt", "the cat", "--temperature", "1", "--max-new-tokens", "16", "--json")
    code, out, _ = run(capsys, "race", *args, "--drafter", "layer-skip", "--knob", "layers=2", "--rule", "shared-noise")
    race = json.loads(out)
    assert (code, race["identical"], race["rule"]) == (0, True, "shared-noise")
    assert race["lanes"]["speculative"]["tokens"] == race["lanes"]["baseline"]["tokens"]


def test_prove_prints_a_row_for_each_rule(capsys):
    code, out, _ = run(capsys, "prove", "--rule", "rejection", "--rule", "bonus-skipped", "--json")
    assert code == 0
    sound, wasteful = json.loads(out)["rules"]
    assert sound["passed"] == {"a": True, "b": True, "c": True, "d": True}
    assert (wasteful["badge"], wasteful["passed"]["d"], wasteful["as_promised"]) == ("wasteful", False, True)
    code, out, _ = run(capsys, "prove", "--rule", "first-unverified")
    assert code == 0
    assert "biased" in out
    assert "yes" in out


def test_a_pair_of_folders_drafts_with_the_second(folder, tmp_path, capsys):
    draft = save(tmp_path, tiny("llama", num_hidden_layers=1))
    found = generate(capsys, f"{folder},{draft}", "--drafter", "model", "--max-new-tokens", "12")
    assert found["tokens"] == generate(capsys, folder, "--drafter", "none", "--max-new-tokens", "12")["tokens"]
    assert found["metrics"]["draft_steps"] > 0


def test_the_same_seed_says_the_same_and_another_does_not(folder, capsys):
    sampled = ("--drafter", "oracle", "--temperature", "1", "--max-new-tokens", "16", "--seed")
    one, again, other = (generate(capsys, folder, *sampled, seed)["tokens"] for seed in ("1", "1", "2"))
    # Two seeds agree on 16 draws from laws of ≥ 1 nat with probability below 1e-6.
    assert one == again != other


def test_a_race_records_and_replays_without_a_model(folder, tmp_path, capsys):
    path = tmp_path / "run.jsonl"
    args = ("--pair", folder, "--prompt", "the cat", "--max-new-tokens", "12", "--record", str(path), "--json")
    code, out, _ = run(capsys, "race", *args)
    assert code == 0
    race = json.loads(out)
    assert race["identical"] is True
    assert set(race["lanes"]) == {"speculative", "baseline"}
    code, out, _ = run(capsys, "replay", str(path), "--json")
    assert code == 0
    assert json.loads(out)["lanes"]["speculative"]["tokens"] == race["lanes"]["speculative"]["tokens"]
    assert folder not in path.read_text(encoding="utf-8")


def test_a_recording_that_breaks_off_is_replayed_as_far_as_it_goes(tmp_path, capsys):
    whole = (ASSETS / "traces" / "hero.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    path = tmp_path / "part.jsonl"
    for lines in range(3, 16):
        path.write_text("".join(whole[:lines]), encoding="utf-8")
        code, out, _ = run(capsys, "replay", str(path), "--json")
        assert code == 0, lines
        lane = json.loads(out).get("lanes", {"speculative": json.loads(out)})["speculative"]
        assert lane["finish_reason"] is None
        assert len(lane["tokens"]) >= sum(r["emitted"] for r in lane["rounds"])


def test_greek_letters_go_into_a_pipe_of_any_code_page():
    """As on Windows, where text to a file is in the country's code page unless one says otherwise."""
    command = [sys.executable, "-m", "specdemo", "replay", str(ASSETS / "traces" / "foil.jsonl")]
    done = subprocess.run(command, capture_output=True, check=True, env=os.environ | {"PYTHONIOENCODING": "cp1252"})
    assert "τ" in done.stdout.decode("utf-8")


def test_a_terminal_takes_no_orders_from_a_text():
    assert harmless("a\x1b]0;title\x07b\n\tc\x9bd é中") == "a]0;titleb\n\tcd é中"


def test_text_mode_shows_the_whole_text_and_a_legend(folder, capsys):
    args = ("--pair", folder, "--prompt", "[bold]the cat[/bold]", "--max-new-tokens", "10", "--drafter", "oracle")
    code, out, _ = run(capsys, "generate", *args)
    assert code == 0
    assert "accepted" in out
    assert "tokens per target pass" in out


@pytest.mark.parametrize(
    ("args", "code", "names"),
    [
        (("--gamma", "3.5"), 2, "gamma"),
        (("--seed", "9007199254740993"), 2, "seed"),
        (("--policy", "confidence", "--drafter", "prompt-lookup"), 2, "how sure"),
        (("--gamma", "99"), 2, "gamma"),
        (("--temperature", "-1"), 2, "temperature"),
        (("--temperature", "nan"), 2, "temperature"),
        (("--max-new-tokens", "0"), 2, "max_new_tokens"),
        (("--max-new-tokens", "abc"), 2, "max_new_tokens"),
        (("--top-p", "0"), 2, "top_p"),
        (("--drafter", "nothing"), 2, "nothing"),
        (("--knob", "layers"), 2, "layers"),
        (("--policy", "luck"), 2, "luck"),
        (("--rule", "luck"), 2, "luck"),
        (("--drafter", "model"), 1, "draft"),
        (("--no-such-option",), 2, "--no-such-option"),
    ],
)
def test_a_users_error_is_one_line_with_the_right_code(folder, capsys, args, code, names):
    try:
        got = main(["generate", "--pair", folder, "--prompt", "x", *args])
    except SystemExit as exit_:
        got = exit_.code
    captured = capsys.readouterr()
    assert (got, captured.out) == (code, "")
    line = captured.err.strip().splitlines()[-1]
    assert line.startswith("specdemo: ")
    assert names in line
    assert "Traceback" not in captured.err


def test_files_that_are_not_there_are_named(folder, tmp_path, capsys):
    for args in (("replay", str(tmp_path / "no.jsonl")), ("train-ngram", "--pair", folder, "--text", "no-such.txt")):
        code, out, err = run(capsys, *args)
        assert (code, out) == (1, "")
        assert "no" in err
        assert "Traceback" not in err


def test_a_trained_table_drafts(folder, tmp_path, capsys):
    text, table = tmp_path / "text.txt", tmp_path / "table.safetensors"
    text.write_text("the cat sat on the mat. the cat sat on the hat. " * 20, encoding="utf-8")
    code, out, _ = run(capsys, "train-ngram", "--pair", folder, "--text", str(text), "--out", str(table))
    assert code == 0
    assert "4-gram" in out
    found = generate(capsys, folder, "--drafter", "ngram", "--knob", f"table={table}", "--max-new-tokens", "12")
    assert found["tokens"] == generate(capsys, folder, "--drafter", "none", "--max-new-tokens", "12")["tokens"]
    assert found["metrics"]["drafted"] > 0


def test_the_target_writes_training_text_itself(folder, tmp_path, capsys):
    table = tmp_path / "own.safetensors"
    code, out, _ = run(capsys, "train-ngram", "--pair", folder, "--own", "2000", "--out", str(table))
    assert code == 0
    assert Path(table).is_file()
    assert "of the target's own" in out
