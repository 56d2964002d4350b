"""The doctor: each check on a machine that is well and on one that is not, and what the command makes of them."""

import json
import socket
import time
from pathlib import Path

import pytest
import torch
from packaging.requirements import Requirement

from specdemo.cli import main
from specdemo.doctor import command, processor, software, surroundings
from specdemo.doctor.finding import Finding, worst
from specdemo.errors import UserError
from specdemo.models import folders

THERE = {"torch": "2.13.0+cpu", "transformers": "5.24.0", "gradio": "6.31.0"}
NEEDED = [Requirement("torch>=2.9,<2.15"), Requirement("transformers~=5.24.0"), Requirement("gradio~=6.31.0")]


def answer(reason: str):
    return lambda: reason


# --- software -----------------------------------------------------------------------------------------------------


def test_the_installed_packages_are_the_required_ones():
    assert software.packages().verdict == "ok"
    assert {one.name for one in software.requirements()} >= {"torch", "transformers", "gradio"}


@pytest.mark.parametrize(
    ("changed", "verdict", "named"),
    [({}, "ok", "torch 2.13.0"), ({"gradio": None}, "bad", "gradio is missing"), ({"gradio": "5.0"}, "warn", "5.0")],
)
def test_a_package_that_does_not_fit_is_named(changed, verdict, named):
    found = software.packages(NEEDED, (THERE | changed).get)
    assert found.verdict == verdict
    assert named in found.says
    assert bool(found.do) == (verdict != "ok")


def test_an_old_python_is_bad():
    assert software.python((3, 10)).verdict == "bad"
    assert software.python((3, 12)).verdict == "ok"


# --- processor ----------------------------------------------------------------------------------------------------


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def two_processors(monkeypatch):
    monkeypatch.setattr(processor, "usable_cpus", lambda: 2)
    monkeypatch.setattr(processor, "limit_threads", lambda: None)


@pytest.mark.parametrize(("together", "verdict", "left"), [(60e-6, "ok", 2), (7e-3, "warn", 1)])
def test_two_threads_that_crawl_are_noticed_and_not_used_any_more(two_threads, two_processors, together, verdict, left):
    found = processor.threads({1: 100e-6, 2: together}.__getitem__, busy=0.1)
    assert found.verdict == verdict
    assert f"{together * 1e6:.0f} µs" in found.says
    assert ("OMP_NUM_THREADS=1" in found.do) == (verdict == "warn")
    assert torch.get_num_threads() == left


def test_a_processor_that_lies_idle_is_noticed(two_processors):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    found = processor.threads(lambda count: 1e-4, busy=0.1)
    torch.set_num_threads(before)
    assert found.verdict == "warn"
    assert "OMP_NUM_THREADS=2" in found.do


def test_a_real_product_takes_some_time():
    before = torch.get_num_threads()
    assert 1e-7 < processor.product_s(1) < 1
    torch.set_num_threads(before)


def test_a_torch_without_the_operators_is_noticed(monkeypatch):
    monkeypatch.setattr(processor, "can_pack", lambda dtype: False)
    assert processor.packing().verdict == "warn"


@pytest.mark.parametrize(
    ("lends", "there", "moves", "verdict", "says"),
    [
        (True, True, True, "ok", "lie in large pages"),
        (True, True, False, "warn", "moves no weights"),
        (False, True, True, "warn", "lends no large pages"),
        (False, False, True, "ok", "has no large pages"),
    ],
)
def test_a_system_without_large_pages_is_noticed(monkeypatch, tmp_path, lends, there, moves, verdict, says):
    file = tmp_path / "enabled"
    if there:
        file.touch()
    monkeypatch.setattr(processor.sys, "platform", "linux")
    monkeypatch.setattr(processor, "choose_device", lambda device: "cpu")
    monkeypatch.setattr(processor, "LENDS", file)
    monkeypatch.setattr(processor, "lent", lambda: lends)
    monkeypatch.setattr(processor, "moved", lambda: moves)
    found = processor.pages()
    assert found.verdict == verdict
    assert says in found.says
    assert (found.verdict == "ok") == (not found.do)
    monkeypatch.setattr(processor.sys, "platform", "darwin")
    assert processor.pages().verdict == "ok"


def test_exactness_is_tried_on_the_machine(monkeypatch):
    assert processor.exactness().verdict == "ok"
    monkeypatch.setattr(processor.Decoder, "exact_session", lambda self, vocabulary: None)
    assert processor.exactness().verdict == "warn"


# --- surroundings -------------------------------------------------------------------------------------------------


def test_a_port_in_use_is_noticed():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        assert surroundings.port(number).verdict == "bad"
    assert surroundings.port(number).verdict == "ok"


def test_a_name_that_is_looked_up_for_ever_holds_nobody():
    start = time.monotonic()
    assert surroundings.later(lambda: time.sleep(5) or "", 0.05)() == "no answer within 0 s"
    assert time.monotonic() - start < 2


def test_being_offline_is_a_fault_only_where_something_is_missing():
    away, there = answer("no route"), answer("")
    assert surroundings.hub(there).verdict == "ok"
    assert surroundings.hub(away).verdict == "warn"
    assert surroundings.pypi(there, here=False).verdict == "ok"
    assert surroundings.pypi(away, here=True).verdict == "ok"
    missing = surroundings.pypi(away, here=False)
    assert (missing.verdict, "no route" in missing.says) == ("bad", True)


@pytest.mark.parametrize(
    ("here", "free", "verdict"),
    [(False, 5 * 10**9, "ok"), (False, 10**8, "bad"), (True, 10**8, "warn"), (True, 5 * 10**9, "ok")],
)
def test_disk_counts_what_is_still_to_be_fetched(here, free, verdict):
    assert surroundings.disk(here, free).verdict == verdict


@pytest.mark.parametrize(("free", "verdict"), [(5 * 10**8, "bad"), (15 * 10**8, "warn"), (4 * 10**9, "ok")])
def test_memory(free, verdict):
    assert surroundings.memory(free).verdict == verdict


def test_a_cache_that_cannot_be_written_is_bad(tmp_path: Path):
    assert surroundings.cache(lambda: tmp_path).verdict == "ok"
    assert surroundings.cache(lambda: tmp_path / "nowhere").verdict == "bad"


def test_the_default_model_is_looked_for_in_the_cache(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("SPECDEMO_CACHE", str(tmp_path))
    assert not surroundings.default_model()
    with folders.building(folders.models_dir() / surroundings.EMBEDDED_KEY, surroundings.SMOLLM2_135M.member.sha256):
        pass
    assert surroundings.default_model()


# --- the command --------------------------------------------------------------------------------------------------


def test_the_worst_finding_decides():
    findings = [Finding("a", "ok", ""), Finding("b", "bad", ""), Finding("c", "warn", "")]
    assert worst(findings) == "bad"
    assert worst([]) == "ok"


@pytest.mark.parametrize(("verdict", "code"), [("ok", 0), ("warn", 0), ("bad", 1)])
def test_json_is_the_only_thing_on_stdout(monkeypatch, capsys, verdict, code):
    found = Finding("disk", verdict, "[1 GB] free", "" if verdict == "ok" else "Make room.")
    monkeypatch.setattr(command, "checked", lambda port: iter([found]))
    assert main(["doctor", "--json"]) == code
    report = json.loads(capsys.readouterr().out)
    assert report["verdict"] == verdict
    assert report["findings"] == [{"name": "disk", "verdict": verdict, "says": found.says, "do": found.do}]
    assert main(["doctor"]) == code
    shown = capsys.readouterr().out
    assert "[1 GB] free" in shown
    assert ("→ Make room." in shown) == (verdict != "ok")


def test_every_check_answers_on_this_machine(monkeypatch):
    monkeypatch.setattr(surroundings, "ask_hub", answer("offline"))
    monkeypatch.setattr(surroundings, "ask_pip", answer(""))
    monkeypatch.setattr(processor, "product_s", lambda count: 1e-4)
    found = list(command.checked(port=None))
    assert len({one.name for one in found}) == len(found) == 15
    assert all("\n" not in one.says and (one.do or one.verdict == "ok") for one in found)


def test_a_port_that_is_no_number_is_said_in_one_sentence(monkeypatch):
    monkeypatch.setenv("SPECDEMO_PORT", "many")
    with pytest.raises(UserError):
        surroundings.port()
