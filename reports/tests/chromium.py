"""Drives a headless Chromium over its debugging pipe, which needs no driver beside it."""

from __future__ import annotations

import base64
import json
import os
import re
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

PHONE, DESKTOP = (390, 844), (1280, 900)
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    """Path of a Chromium on this machine."""
    named = os.environ.get("KB_CHROMIUM")
    return named or next((p for b in BROWSERS if (p := shutil.which(b))), None)


needs_browser = pytest.mark.skipif(find() is None, reason="no chromium on this machine")


class Browser:
    """A browser with one page. Collects the requests, console errors and exceptions it sees."""

    def __init__(self, profile: Path, dark: bool = False):
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        command = [
            find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-dev-shm-usage", "--disable-background-networking", "--hide-scrollbars",
            f"--user-data-dir={profile}", "--remote-debugging-pipe",
        ]  # fmt: skip
        # The browser talks on descriptors 3 and 4; bash can name any, dash only single digits.
        script = f'exec "$@" 3<&{to_read} 4>&{to_write}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "browser", *command],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_read)
        os.close(to_write)
        self._buffer = b""
        self._last = 0
        self._session: str | None = None
        self.requests: list[str] = []
        self.errors: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        if dark:
            self.call(
                "Emulation.setEmulatedMedia",
                features=[{"name": "prefers-color-scheme", "value": "dark"}],
            )

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._session = None
        try:
            self.call("Browser.close", timeout=10)
            self._process.wait(10)
        except (TimeoutError, EOFError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)

    def call(self, method: str, timeout: float = 60, **params: Any) -> dict[str, Any]:
        """Send a command and return its result, keeping events. Raises RuntimeError."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + timeout
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._event(answer)

    def _receive(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            data = os.read(self._read, 1 << 20)
            if not data:
                raise EOFError("the browser ended")
            self._buffer += data
        text, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(text)

    def _event(self, message: dict[str, Any]) -> None:
        method, params = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.errors.append(" ".join(str(a.get("value")) for a in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])

    def open(self, path: Path, fragment: str = "") -> None:
        """Load a file and wait until it is complete."""
        self.call("Page.navigate", url=path.resolve().as_uri() + fragment)
        self.wait("document.readyState === 'complete'")

    def size(self, width: int, height: int, scale: float = 1, mobile: bool = False) -> None:
        """Set the size of the window in CSS pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=scale, mobile=mobile,
        )  # fmt: skip

    def js(self, expression: str) -> Any:
        """Value of an expression; promises are awaited. Raises RuntimeError on an exception."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def wait(self, condition: str, timeout: float = 30) -> None:
        """Wait until an expression is true. Raises TimeoutError."""
        deadline = time.monotonic() + timeout
        while not self.js(condition):
            if time.monotonic() > deadline:
                raise TimeoutError(condition)
            time.sleep(0.05)

    def key(self, key: str, code: str = "", text: str = "") -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=code or key,
                text=text if kind == "keyDown" else "",
                windowsVirtualKeyCode={"Tab": 9, "Enter": 13}.get(key, 0),
            )  # fmt: skip

    def screenshot(self, path: Path, full: bool = False) -> None:
        """Save what the window shows, or the whole page, as PNG."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full)
        path.write_bytes(base64.b64decode(answer["data"]))

    def pdf(self, path: Path) -> None:
        """Save the page as it prints."""
        answer = self.call("Page.printToPDF", printBackground=False)
        path.write_bytes(base64.b64decode(answer["data"]))


def keep_picture(browser: Browser, name: str) -> None:
    """Saves what the browser shows, where pictures are asked for."""
    if os.environ.get("KB_SCREENSHOTS"):
        folder = Path(os.environ["KB_SCREENSHOTS"])
        folder.mkdir(parents=True, exist_ok=True)
        browser.screenshot(folder / name)


def assert_background(browser: Browser, dark: bool) -> None:
    """It is dark where it should be, and light elsewhere."""
    back = browser.js("getComputedStyle(document.body).backgroundColor")
    level = sum(map(int, re.findall(r"\d+", back)[:3])) / 3
    assert level < 60 if dark else level > 200


def assert_it_looks_right(browser: Browser, file: Path, size: tuple[int, int], name: str) -> None:
    """A page without a script fits the window with everything open, and loads nothing."""
    browser.size(*size, mobile=size == PHONE)
    browser.open(file)
    browser.js("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.js("document.documentElement.scrollWidth") == size[0]
    keep_picture(browser, name)
    clean_run(browser, file)


def clean_run(browser: Browser, file: Path) -> None:
    """Nothing but the file was asked for, and nothing went wrong."""
    assert browser.errors == []
    allowed = (file.resolve().as_uri(), "data:,")
    assert [r for r in browser.requests if r.partition("#")[0] not in allowed] == []
