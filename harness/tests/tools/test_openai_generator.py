"""docs/openai_generator.py against a small server on this machine."""

import http.server
import json
import os
import subprocess
import sys
import threading
from typing import ClassVar

import pytest
from checkout import SOURCE_DIR

GENERATOR = SOURCE_DIR / "docs/openai_generator.py"


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers with a kernel, or with `status` if that is no success."""

    status = 200
    asked: ClassVar[dict] = {}

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers["Content-Length"]))
        body = {"path": self.path, "key": self.headers["Authorization"], **json.loads(text)}
        type(self).asked = body
        self.send_response(self.status)
        self.end_headers()
        choice = {"message": {"content": "```cuda\nint x;\n```"}}
        self.wfile.write(json.dumps({"choices": [choice]}).encode())

    def log_message(self, *_) -> None:
        pass


@pytest.fixture(name="base")
def fixture_base():
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1/"
    server.shutdown()
    server.server_close()


def generate(base: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    environment = {**kept, "OPENAI_BASE_URL": base, **environment}
    command = [sys.executable, GENERATOR]
    return subprocess.run(
        command, input="a prompt", env=environment, capture_output=True, text=True, check=False
    )


def test_the_answer_is_printed(base: str) -> None:
    done = generate(base, OPENAI_API_KEY="k", OPENAI_MODEL="m")
    assert (done.returncode, done.stdout) == (0, "```cuda\nint x;\n```\n"), done.stderr
    assert (Handler.asked["path"], Handler.asked["key"]) == ("/v1/chat/completions", "Bearer k")
    assert Handler.asked["messages"] == [{"role": "user", "content": "a prompt"}]


def test_what_is_missing_or_refused_is_told(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_MODEL", raising=False)
    done = generate(base, OPENAI_API_KEY="k")
    assert (done.returncode, done.stderr) == (1, "set OPENAI_MODEL\n")
    monkeypatch.setattr(Handler, "status", 429)
    done = generate(base, OPENAI_API_KEY="k", OPENAI_MODEL="m")
    assert done.returncode == 1 and "429" in done.stderr
