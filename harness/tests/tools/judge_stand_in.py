"""In the place of tools/judge for a run, in a checkout whose build cannot be configured.

Each kernel of the run is judged by the real tools/judge as one that lies anywhere; its result and
its entry in the manifest are what a build of the run would leave. A file `judged` lists the calls.
"""

import hashlib
import json
import pathlib
import subprocess
import sys


def main() -> None:
    preset, what = sys.argv[1:]
    run, _, sample = what.partition("/")
    root = pathlib.Path(__file__).resolve().parent.parent
    build = root / "build" / preset
    with (root / "judged").open("a") as calls:
        calls.write(what + "\n")
    manifest = json.loads((build / "manifest.json").read_text())
    manifest["source_dir"] = str(root)
    about = json.loads((root / f"candidates/{run}/run.json").read_text())
    manifest["runs"][run] = about
    known = {c["name"] for c in manifest["candidates"]}
    for file in sorted((root / f"candidates/{run}").glob(f"{sample or '*'}/level*/*.cu")):
        folder, level, task = file.parts[-3], file.parts[-2], file.stem
        name = f"{run}.{folder}.{level}.{task}"
        if name in known:
            continue
        headers = ["--headers", "kb"] if "headers" in about else []
        command = [root / "tools/judge.real", *headers, preset, f"{level}/{task}", file]
        done = subprocess.run(command, capture_output=True, check=False)
        if not done.stdout:
            sys.exit(done.stderr.decode())
        entry = {
            "name": name,
            "run": run,
            "sample": folder,
            "level": int(level.removeprefix("level")),
            "task": task,
            "source": str(file.relative_to(root)),
            "module": f"own/{name}.so",
            "build_json": f"own/{name}.json",
            "result": f"results/{run}/{folder}/{level}/{task}.json",
            "library": "none",
            "headers": about.get("headers", []),
            "preload": [],
        }
        module = build / entry["module"]
        module.parent.mkdir(exist_ok=True)
        module.write_text(name)
        result = json.loads(done.stdout) | {k: entry[k] for k in ("name", "run", "sample")}
        if result["hashes"]["module"]:
            result["hashes"]["module"] = hashlib.sha256(name.encode()).hexdigest()
        path = build / entry["result"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result))
        manifest["candidates"].append(entry)
    (build / "manifest.json").write_text(json.dumps(manifest))
    print(f"the table of {what}")


if __name__ == "__main__":
    main()
