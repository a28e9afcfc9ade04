"""The list of fields that a kernel may ignore: nothing is missing there, and nothing too much."""

import json
import os
import pathlib
import subprocess

BUILD_DIR = pathlib.Path(os.environ["KB_BUILD_DIR"])
SOURCE_DIR = pathlib.Path(__file__).parents[3]
# Upstream's out_channels of a depthwise convolution is without effect, all else matters.
TASK = "level1/085_conv_depthwise_2d_asymmetric_input_asymmetric_kernel"


def check(tmp_path: pathlib.Path, fields: dict) -> subprocess.CompletedProcess:
    listed = tmp_path / "list.json"
    listed.write_text(json.dumps({TASK: fields}))
    return subprocess.run(
        [BUILD_DIR / "bin/kb_frozen_fields", "--task", TASK, "--list", listed],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_field_without_effect_is_listed(tmp_path: pathlib.Path) -> None:
    done = check(tmp_path, {"out_channels": "y has in_channels"})
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_field_that_nothing_shows_fails(tmp_path: pathlib.Path) -> None:
    done = check(tmp_path, {})
    assert done.returncode == 1
    assert "out_channels" in done.stdout


def test_a_listed_field_that_matters_fails(tmp_path: pathlib.Path) -> None:
    done = check(tmp_path, {"out_channels": "y has in_channels", "stride_h": "a mistake"})
    assert done.returncode == 1
    assert "stride_h" in done.stdout


def test_an_unknown_field_is_an_error(tmp_path: pathlib.Path) -> None:
    done = check(tmp_path, {"strides": "a typing error"})
    assert done.returncode == 2
    assert "'strides'" in done.stderr


def test_an_entry_has_a_reason(tmp_path: pathlib.Path) -> None:
    done = check(tmp_path, {"out_channels": ""})
    assert done.returncode == 2
    assert "'out_channels'" in done.stderr


def test_listed_tasks_exist() -> None:
    listed = json.loads(
        (SOURCE_DIR / "harness/lab/validity/fields_without_effect.json").read_text()
    )
    assert not [task for task in listed if not (SOURCE_DIR / task / "task.h").exists()]
