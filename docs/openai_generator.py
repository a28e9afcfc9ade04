"""A generator for tools/refine: asks a server with OpenAI's interface for the kernel of one prompt.

OPENAI_API_KEY and OPENAI_MODEL must be set; OPENAI_BASE_URL names another server.
"""

import json
import os
import sys
import urllib.request


def main() -> None:
    """Prints the answer as it is; tools/refine finds the kernel in it."""
    base = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
    try:
        key, model = os.environ["OPENAI_API_KEY"], os.environ["OPENAI_MODEL"]
    except KeyError as missing:
        sys.exit(f"set {missing.args[0]}")
    body = {"model": model, "messages": [{"role": "user", "content": sys.stdin.read()}]}
    request = urllib.request.Request(
        f"{base.rstrip('/')}/chat/completions",
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            print(json.load(answer)["choices"][0]["message"]["content"])
    except OSError as error:  # no connection, or a status that is no success
        sys.exit(f"{base}: {error}")


if __name__ == "__main__":
    main()
