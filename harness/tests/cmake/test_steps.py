"""The steps of one candidate when something is missing, full or interrupted between them."""

import json
import os
import pathlib
import shutil
import signal
import subprocess

import pytest
from conftest import BUILD_DIR, need_built, stopped
from processes import alive, descendants, runs, wait_until

RELU = "seed.level1.019_relu"
PTX = "examples.level1.019_relu"
ENDLESS = "examples.level1.097_scaled_dot_product_attention"


def step(build: pathlib.Path, program: str, candidate: str) -> subprocess.CompletedProcess[str]:
    """Runs one step of a candidate."""
    command = [build / "bin" / program, "--manifest", build / "manifest.json"]
    command += ["--candidate", candidate]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def result_of(build: pathlib.Path, candidate: str) -> dict:
    """Reads the candidate's result file."""
    entries = json.loads((build / "manifest.json").read_text())["candidates"]
    entry = next(c for c in entries if c["name"] == candidate)
    return json.loads((build / entry["result"]).read_text())


def hide_module(build: pathlib.Path) -> None:
    """Makes the candidates' modules disappear from this build tree only."""
    (build / "modules").unlink()
    (build / "modules").mkdir()


def test_a_tree_that_is_not_built(tmp_path: pathlib.Path) -> None:
    script = pathlib.Path(os.environ["KB_SOURCE_DIR"]) / "harness/cmake/RunEnv.cmake"
    folder = f"-DPRESET_DIR={tmp_path}/l40s"
    program = f"-DENV_PROGRAM={tmp_path}/l40s/bin/kb_env"
    done = subprocess.run(
        ["cmake", folder, program, "-P", script], capture_output=True, text=True, check=False
    )
    stopped(done, "cmake --build --preset l40s")


def test_a_module_deleted_after_the_build(build: pathlib.Path) -> None:
    hide_module(build)
    done = step(build, "kb_check_build", RELU)
    assert done.returncode == 2
    assert RELU in done.stderr and "cmake --build" in done.stderr


def test_a_module_deleted_between_two_steps(build: pathlib.Path) -> None:
    assert step(build, "kb_check_build", RELU).returncode == 0
    hide_module(build)
    done = step(build, "level1.019_relu.test", RELU)
    assert done.returncode == 2
    assert "missing" in done.stderr
    assert result_of(build, RELU)["verdict"] is None


def test_a_candidate_that_is_not_configured(build: pathlib.Path) -> None:
    done = step(build, "kb_check_build", "nobody.level1.019_relu")
    assert done.returncode == 2
    assert "no candidate 'nobody.level1.019_relu'" in done.stderr


def test_a_source_deleted_after_the_build_changes_no_verdict(build: pathlib.Path) -> None:
    manifest = json.loads((build / "manifest.json").read_text())
    manifest["source_dir"] = str(build / "nothing")
    (build / "manifest.json").write_text(json.dumps(manifest))
    assert step(build, "kb_check_build", RELU).returncode == 0
    result = result_of(build, RELU)
    assert result["hashes"]["source"] == result["build"]["source_sha256"]


def test_a_source_edited_after_the_build_is_not_judged(build: pathlib.Path) -> None:
    """What would be judged is the module of another source than the one that is shown."""
    manifest = json.loads((build / "manifest.json").read_text())
    entry = next(c for c in manifest["candidates"] if c["name"] == RELU)
    edited = build / "sources" / entry["source"]
    edited.parent.mkdir(parents=True)
    edited.write_text("// fminf instead of fmaxf\n")
    manifest["source_dir"] = str(build / "sources")
    (build / "manifest.json").write_text(json.dumps(manifest))
    (build / "CMakeFiles").unlink()
    record = build / entry["build_json"]
    record.parent.mkdir(parents=True)
    shutil.copy(BUILD_DIR / entry["build_json"], record)
    compiled = record.with_name(record.name.removesuffix(".build.json"))
    compiled.touch()
    done = step(build, "kb_check_build", RELU)
    assert done.returncode == 2
    assert "has changed" in done.stderr
    assert not compiled.exists(), "a build goes by times, and a moved file keeps its own"


def test_judging_without_the_first_step(build: pathlib.Path) -> None:
    done = step(build, "level1.019_relu.test", RELU)
    assert done.returncode == 2
    assert "results/seed/level1/019_relu.json" in done.stderr


@pytest.mark.skipif(os.environ["KB_TEST_BACKEND"] != "cpu", reason="a GPU runs inline PTX")
def test_what_the_build_step_decided_stays_decided(build: pathlib.Path) -> None:
    """CTest runs the next steps after one that was skipped; they must not find another verdict."""
    need_built("modules/examples/level1.019_relu.so", "bin/level1.019_relu.test")
    assert step(build, "kb_check_build", PTX).returncode == 77
    before = result_of(build, PTX)
    assert (before["verdict"], before["stage"]) == ("skipped", "build")
    for program in ("level1.019_relu.test", "level1.019_relu.bench"):
        done = step(build, program, PTX)
        assert done.returncode == 77
        assert 'its verdict is "skipped"' in done.stdout
    assert result_of(build, PTX) == before


def test_a_full_disk(build: pathlib.Path) -> None:
    (build / "results").mkdir()
    script = 'mount -t tmpfs -o size=4k none "$0" && head -c 4096 /dev/zero >"$0/full" && exec "$@"'
    command = [build / "bin/kb_check_build", "--manifest", build / "manifest.json"]
    command += ["--candidate", RELU]
    unshared = ["unshare", "--mount", "--map-root-user", "sh", "-c", script, build / "results"]
    probe = subprocess.run([*unshared, "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip("this user may not mount a small file system")
    done = subprocess.run([*unshared, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr


@pytest.mark.parametrize("key", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_ctest_leaves_no_process(build: pathlib.Path, key: signal.Signals) -> None:
    """Ctrl-C reaches ctest's whole process group; the candidate has a session of its own."""
    if not (BUILD_DIR / "modules/examples").exists():
        pytest.skip("the example run is not configured")
    scaled = "level1.097_scaled_dot_product_attention"
    need_built(f"modules/examples/{scaled}.so", f"bin/{scaled}.test")
    assert step(build, "kb_check_build", ENDLESS).returncode == 0
    program = build / f"bin/{scaled}.test"
    line = f'"{program}" "--manifest" "{build}/manifest.json" "--candidate" "{ENDLESS}"'
    folder = build / "ctest"
    folder.mkdir()
    (folder / "CTestTestfile.cmake").write_text(f"add_test(endless {line} --call-timeout 100)\n")
    ctest = subprocess.Popen(
        ["ctest"], cwd=folder, stdout=subprocess.DEVNULL, start_new_session=True
    )
    seen: set[int] = set()

    def runner_started() -> bool:
        seen.update(descendants(ctest.pid))
        return runs("kb_runner", seen)

    wait_until(runner_started)
    os.killpg(ctest.pid, key)
    ctest.wait(timeout=60)
    wait_until(lambda: not any(alive(p) for p in seen))
    assert result_of(build, ENDLESS)["verdict"] is None
    # And a rerun continues.
    assert step(build, "kb_check_build", ENDLESS).returncode == 0
