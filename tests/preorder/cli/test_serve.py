"""``preorder serve``: its answers are those of ``preorder apply``, and a browser shows its page."""

import argparse
import json
import re
import subprocess
import sys
import urllib.request

import pytest

import preorder
from preorder.cli import serve
from preorder.errors import UsageError
from tests.support import browser
from tests.support.running import environment

pytest.importorskip("flask")
pytest.importorskip("waitress")
LINES = ["I like the pen .", "", "she read a book about ￨ birds ."]
EXPECTED = preorder.LineModel("en-verb-final", "text")(LINES)


def service(**changes):
    given = {"model": "en-verb-final", "stanza_dir": None, "tokenize": None, "max_length": 20}
    return serve.load_service(argparse.Namespace(**given | changes))


@pytest.fixture(scope="module")
def client():
    return serve.make_app(service()).test_client()


def test_lines_and_json_are_answered_alike(client):
    assert client.post("/order", data="\n".join(LINES)).text == "".join(f"{line}\n" for line in EXPECTED)
    assert client.post("/order", json=LINES).json == {"lines": EXPECTED}
    for form in ("positions", "order", "features", "tree"):
        expected = preorder.LineModel("en-verb-final", form)(LINES)
        assert client.post("/order", json={"lines": LINES, "format": form}).json == {"lines": expected}
        assert client.post(f"/order?format={form}", data="\n".join(LINES)).text.split("\n")[:-1] == expected


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"a\n" + b"b " * 21, 400, "request:2: 21 tokens: at most 20 are taken"),
        (b"\xff", 400, "not valid UTF-8 (byte 1)"),
        (b"a " * serve.MAX_BYTES, 413, "exceeds"),
        ("{", 400, "not JSON: Expecting property name"),
        ('{"lines": 3}', 400, 'not {"lines": ["…"], "format": "text"}'),
        ('{"lines": [3]}', 400, "request:1: not a string: 3"),
        ('{"lines": ["a\\nb"]}', 400, "request:1: "),
        ('{"lines": [], "format": "x"}', 400, "format: 'x' is none of features"),
        ("[" * 100_000, 400, "JSON that is nested too deeply"),
    ],
)
def test_what_is_wrong_is_json_with_a_status(client, body, status, message):
    kind = "application/json" if isinstance(body, str) else "text/plain"
    answer = client.post("/order", data=body, content_type=kind)
    assert answer.status_code == status
    assert message in answer.json["error"]


def test_other_routes(client):
    assert client.get("/health").json["status"] == "ok"
    assert client.get("/health").json["method"] == "btg"
    assert client.get("/order").status_code == 405
    assert client.get("/nowhere").status_code == 404


def test_the_page_escapes_what_it_shows(client):
    wrong = {"source": "<script>alert(1)</script>", "target": '"><b>', "links": "<i>"}
    answer = client.get("/", query_string=wrong)
    assert answer.status_code == 400
    assert not re.search("<script|<b>|<i>", answer.text)
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert client.get("/").status_code == 200


def test_a_fault_of_the_server_is_in_its_log_alone(client, monkeypatch, caplog):
    monkeypatch.setattr(serve.Service, "order", lambda *_: 1 / 0)
    answer = client.post("/order", data="a")
    assert answer.status_code == 500
    assert answer.json == {"error": "the server cannot do this: its log says why"}
    assert "a request failed" in caplog.text


def test_plain_text():
    pytest.importorskip("sacremoses")
    raw = serve.make_app(service(tokenize="en")).test_client()
    assert raw.post("/order", data="I like the pen.").text == f"{EXPECTED[0]}\n"


def test_a_model_that_needs_tags_is_refused(tmp_path):
    model = preorder.train(["a b"] * 4, ["0-1 1-0"] * 4, tags=["A B"] * 4, classes=0, iterations=1)
    model.save(str(tmp_path / "model"))
    with pytest.raises(UsageError, match="POS tags"):
        service(model=str(tmp_path / "model"))


@pytest.fixture(scope="module")
def address():
    program = [sys.executable, "-m", "preorder", "serve", "--model", "en-verb-final", "--port", "0"]
    with subprocess.Popen(program, stderr=subprocess.PIPE, text=True, env=environment()) as server:
        line = next(line for line in server.stderr if "listening" in line)
        yield re.search(r"http://127\.0\.0\.1:\d+", line)[0]
        server.terminate()  # as SIGINT is ignored where the tests run in the background


def test_a_process_of_its_own(address):
    request = urllib.request.Request(f"{address}/order", "\n".join(LINES).encode())
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.read().decode() == "".join(f"{line}\n" for line in EXPECTED)
    with urllib.request.urlopen(f"{address}/health", timeout=60) as answer:
        assert json.load(answer)["model"] == "en-verb-final"


def test_a_browser_shows_the_picture(address):
    """Typed, sent and drawn: the words of the picture, its links, no complaint, and nothing cut off."""
    pytest.importorskip("matplotlib")
    with browser.started() as page:
        page.visit(address)
        page.resize(400, 800)
        page.run("document.querySelector('textarea').value = 'I like the pen .'")
        page.click("summary")
        page.run("document.querySelector('[name=target]').value = 'watashi wa pen ga suki da .'")
        page.run("document.querySelector('[name=links]').value = '0-0 1-4 3-2 4-6'")
        page.click("button")
        assert page.run("return document.querySelector('#preordered').textContent") == EXPECTED[0]
        words = page.run("return [...document.querySelectorAll('svg text')].map(one => one.textContent)")
        assert {"watashi", "pen", "suki"} <= set(words)
        assert page.run("return document.querySelectorAll('svg path').length") >= 8
        assert page.run("return document.documentElement.scrollWidth <= window.innerWidth")
        assert not page.messages()
