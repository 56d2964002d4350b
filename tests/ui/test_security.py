"""What a visitor cannot do, over a real server: read or write files, name models, send too much, see others' things."""

import ast
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from serving import TOY, Server, serving
from visitor import Visitor, functions, values

import specdemo
from specdemo.config import RunConfig
from specdemo.ui.app import BODY_BYTES
from specdemo.ui.settings import Limits

SECRET = "hf_notForVisitors"
ROOT = Path(specdemo.__file__).parent


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as serve:
        yield serve(TOY, "0", HF_TOKEN=SECRET, SPECDEMO_EMBED="https://school.example")


@pytest.fixture(scope="module")
def get(server: Server) -> Callable[[str], httpx.Response]:
    client = httpx.Client(base_url=server.url, timeout=30)
    return client.get


FILES = ("/etc/passwd", "app.py", str(ROOT / "errors.py"), "../../../../etc/passwd", "file:///etc/passwd")


@pytest.mark.parametrize("file", FILES)
def test_no_file_of_this_machine_can_be_had(get: Callable[[str], httpx.Response], file: str) -> None:
    for door in ("/gradio_api/file=", "/gradio_api/file/", "/file=", "/assets/", "/static/", "/svelte/", "/"):
        answer = get(door + file)
        assert answer.status_code in (403, 404, 307, 500) or "root:" not in answer.text
        assert "root:x" not in answer.text
        assert "class SpecdemoError" not in answer.text


@pytest.mark.parametrize("name", ["%00", "a" * 300, "%2e%2e/%2e%2e/app.py", "/", "index.html"])
def test_a_strange_name_of_a_file_is_none_of_ours(get: Callable[[str], httpx.Response], name: str) -> None:
    assert get(f"/assets/{name}").status_code == 404


def test_nothing_can_be_put_on_this_machine(server: Server) -> None:
    files = {"files": ("a.txt", b"x" * 100)}
    for door in ("/gradio_api/upload", "/upload"):
        assert httpx.post(server.url + door, files=files).status_code in (404, 405)


def test_figures_about_visitors_are_nobody_s(get: Callable[[str], httpx.Response]) -> None:
    for door in (
        "/monitoring",
        "/monitoring/summary",
        "/gradio_api/run-history/records",
        "/gradio_api/profiling/summary",
    ):
        assert get(door).status_code == 404


@pytest.mark.parametrize(
    "door", ["/gradio_api/queue/join", "/gradio_api/component_server", "/gradio_api/call/generate"]
)
def test_a_request_too_large_is_refused(server: Server, door: str) -> None:
    answer = httpx.post(server.url + door, content=b"{" + b" " * (BODY_BYTES + 1), timeout=60)
    assert answer.status_code == 413


def test_a_request_too_large_without_a_length_is_refused(server: Server) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(BODY_BYTES // 1_000_000 + 2):
            yield b" " * 1_000_000

    try:
        answer = httpx.post(server.url + "/gradio_api/queue/join", content=pieces(), timeout=60)
    except httpx.TransportError:  # cut off while it was still talking
        return
    assert answer.status_code == 413


@pytest.mark.parametrize("door", ["/", "/config", "/healthz", "/gradio_api/info", "/theme.css"])
def test_no_answer_holds_a_secret_or_a_path_and_all_have_headers(
    get: Callable[[str], httpx.Response], door: str
) -> None:
    answer = get(door)
    assert answer.status_code == 200
    assert SECRET not in answer.text
    assert str(ROOT.parent) not in answer.text
    assert str(Path.home()) + "/" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'self' https://school.example" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("pair", ["/etc", "~", "..", "../models", "gpt2", "evil/model", "smollm2-135m,evil/model", ""])
def test_a_visitor_names_no_other_model(server: Server, pair: str) -> None:
    asked = values(RunConfig(prompt="x", max_new_tokens=4))
    asked[1] = pair
    visitor = Visitor(server.url)
    assert visitor.join("run", asked).status_code == 200
    assert "not on offer" in json.dumps(list(visitor.messages()))


@pytest.mark.parametrize(
    ("pair", "offered"),
    [
        ("smollm2-135m", True),
        ("owner/name", True),
        ("owner/name,other/draft", True),
        ("a/b,c/d,e/f", False),
        ("gpt2", False),
        ("/etc", False),
        ("../up", False),
        ("tests/ui", False),
        ("owner/name\n", False),
        ("owner/../name", False),
        (None, False),
        (["owner/name"], False),
    ],
)
def test_where_other_models_are_allowed_they_are_the_hub_s(
    pair: object, offered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT.parent)  # where tests/ui is a folder
    assert Limits(any_pair=True).offers(pair) is offered
    assert Limits(any_pair=False).offers(pair) is (pair == "smollm2-135m")


def test_a_visitor_reads_no_file_through_a_draft_s_setting(server: Server) -> None:
    asked = values(RunConfig(prompt="x", drafter="ngram", max_new_tokens=4))
    asked[-1] = json.dumps({"path": "/etc/passwd"})
    visitor = Visitor(server.url)
    assert visitor.join("run", asked).status_code == 200
    assert "has no setting called" in json.dumps(list(visitor.messages()))


def test_private_functions_are_not_told_of(get: Callable[[str], httpx.Response]) -> None:
    named = get("/gradio_api/info").json()["named_endpoints"]
    assert set(named) == {"/generate", "/probe"}


def test_every_way_in_that_computes_waits_in_the_queue(server: Server) -> None:
    """The direct door takes no more than the small functions that the page itself calls there."""
    client = httpx.Client(base_url=server.url)
    for name in ("run", "generate"):
        body = {"fn_index": functions(server.url)[name], "data": [], "session_hash": "x"}
        answer = client.post("/gradio_api/run/predict", json=body)
        assert answer.status_code >= 400


DANGEROUS = {"pickle", "shelve", "marshal", "dill", "joblib", "cloudpickle"}


@pytest.mark.parametrize("file", sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py")))
def test_no_code_runs_what_it_reads(file: str) -> None:
    """No pickle, no eval, no code from model folders, no shell."""
    for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            assert not DANGEROUS & {name.split(".")[0] for name in names}
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in ("eval", "exec", "os.system", "yaml.load")
            assert called != "torch.load" or "weights_only=True" in map(ast.unparse, node.keywords)
            for keyword in node.keywords:
                assert keyword.arg not in ("trust_remote_code", "shell", "allow_pickle")
