"""Several GPUs of one machine, made up: CTest gives each to two judges at a time, and uses all."""

import json
import os
import pathlib
import subprocess

import pytest
from conftest import BUILD_DIR, SOURCE_DIR, need_built

TASKS = ("019_relu", "023_softmax", "040_layer_norm")
GPUS = ("gpu_1a", "gpu_2b")

# The tests of three candidates as a build for GPUs has them, with the programs that PATH has. Here
# kb.env finds made-up GPUs.
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(gpus NONE)
enable_testing()
include({source}/harness/cmake/KbCandidate.cmake)
set(PROJECT_BINARY_DIR {build})
set(KB_BACKEND cuda)
set(KB_SIZES full)
add_test(NAME kb.env COMMAND ${{CMAKE_COMMAND}} -E copy {build}/made_up.json {build}/gpus.json)
set_tests_properties(kb.env PROPERTIES FIXTURES_SETUP kb.env
  GENERATED_RESOURCE_SPEC_FILE {build}/gpus.json)
# From 3.28 on CTest reads the list that kb.env writes; older ones get the same list by an option.
set(generated ${{CMAKE_VERSION}})
set(CMAKE_VERSION 3.28)
foreach(task IN ITEMS {tasks})
  kb_add_candidate_tests(seed.level1.${{task}} level1.${{task}} seed)
endforeach()
file(WRITE {build}/cmake_version.txt ${{generated}})
"""

# Holds a slot of its GPU until it ends, and meets a test on the other GPU before it does anything.
HOLDER = """#!/bin/sh
gpu=$CTEST_RESOURCE_GROUP_0_GPUS
exec 8>"{seen}/lock.$gpu" 9>"{seen}/other_lock.$gpu"
flock -n 8 || flock -n 9 || {{ echo "three tests at once on $gpu"; exit 1; }}
echo "$gpu" >>"{seen}/{program}"
: >"{seen}/on.$gpu"
for _ in $(seq 600); do
  [ "$(ls "{seen}" | grep -c '^on\\.')" -lt {gpus} ] || exec "{real}" "$@"
  sleep 0.1
done
echo "alone on $gpu for a minute"
exit 1
"""


@pytest.mark.skipif(os.environ["KB_TEST_BACKEND"] != "cpu", reason="judges on the CPU")
def test_each_gpu_has_two_judges_at_a_time(build: pathlib.Path, tmp_path: pathlib.Path) -> None:
    seen, stand_ins, source = (tmp_path / name for name in ("seen", "stand-ins", "source"))
    for folder in (seen, stand_ins, source):
        folder.mkdir()
    programs = [f"level1.{task}.{kind}" for task in TASKS for kind in ("test", "bench")]
    need_built(*(f"bin/{each}" for each in programs))
    need_built(*(f"modules/seed/level1.{task}.so" for task in TASKS))
    for program in programs:
        file = stand_ins / program
        real = build / "bin" / program
        file.write_text(HOLDER.format(seen=seen, program=program, real=real, gpus=len(GPUS)))
        file.chmod(0o755)
    spec = {"gpus": [{"id": gpu, "slots": 2} for gpu in GPUS]}
    spec = {"version": {"major": 1, "minor": 0}, "local": [spec]}
    (build / "made_up.json").write_text(json.dumps(spec))
    project = PROJECT.format(source=SOURCE_DIR, build=build, tasks=" ".join(TASKS))
    (source / "CMakeLists.txt").write_text(project)
    subprocess.run(["cmake", "-S", source, "-B", source / "build"], check=True, capture_output=True)
    version = (build / "cmake_version.txt").read_text().split(".")
    older = [int(part) for part in version[:2]] < [3, 28]
    command = ["ctest", "--test-dir", source / "build", "-j", "8", "--output-on-failure"]
    command += ["--resource-spec-file", build / "made_up.json"] if older else []
    path = f"{stand_ins}:{BUILD_DIR}/bin:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    given = {program: (seen / program).read_text() for program in programs}
    assert set(given.values()) == {f"id:{gpu},slots:1\n" for gpu in GPUS}
    for task in TASKS:
        result = json.loads((build / f"results/seed/level1/{task}.json").read_text())
        assert result["verdict"] == "pass" and result["timing"]
