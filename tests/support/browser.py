"""A headless Chromium, driven through chromedriver's own protocol (W3C WebDriver)."""

import json
import re
import shutil
import subprocess
import tempfile
import urllib.request
from contextlib import contextmanager

import pytest

OPTIONS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
--disable-background-networking --disable-component-update --disable-sync --hide-scrollbars""".split()
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """A session; methods are named as what a reader does."""

    def __init__(self, port, folder):
        self._url = f"http://127.0.0.1:{port}/session"
        chrome = {"args": [*OPTIONS, f"--user-data-dir={folder}"], "binary": shutil.which("chromium")}
        capabilities = {"goog:chromeOptions": chrome, "goog:loggingPrefs": {"browser": "ALL"}}
        session = self._post("", {"capabilities": {"alwaysMatch": capabilities}})
        self._url += "/" + session["sessionId"]

    def _post(self, path, body, method="POST"):
        data = json.dumps(body).encode() if method == "POST" else None
        request = urllib.request.Request(self._url + path, data, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, path):
        self.visit(path.as_uri())

    def visit(self, address):
        self._post("/url", {"url": address})

    def run(self, script):
        return self._post("/execute/sync", {"script": script, "args": []})

    def resize(self, width, height):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": True}
        command = {"cmd": "Emulation.setDeviceMetricsOverride", "params": metrics}
        self._post("/goog/cdp/execute", command)

    def click(self, selector):
        element = self._post("/element", {"using": "css selector", "value": selector})[ELEMENT]
        self._post(f"/element/{element}/click", {})

    def messages(self):
        """What the browser complained of."""
        return [entry["message"] for entry in self._post("/se/log", {"type": "browser"})]

    def quit(self):
        self._post("", None, "DELETE")


@contextmanager
def started():
    """Give a browser; skip the test where there is none."""
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program} (Debian: apt-get install chromium chromium-driver)")
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True) as driver,
    ):
        try:
            port = next(filter(None, (re.search(r"on port (\d+)\.", line) for line in driver.stdout)))[1]
            browser = Browser(port, folder)
            try:
                yield browser
            finally:
                browser.quit()
        finally:
            driver.terminate()
