"""kb_reference as its users run it: lists tasks, runs references on given tensors, refuses bad ones.

Environment: KB_REFERENCE, the program; KB_SOURCE_DIR, the checkout.
"""

import array
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess

import pytest

PROGRAM = os.environ["KB_REFERENCE"]
SOURCE_DIR = pathlib.Path(os.environ["KB_SOURCE_DIR"])
RELU = ["--task", "level1/019_relu", "--size", "batch_size=2", "--size", "dim=3"]

Tensors = dict[str, tuple[str, list[int], bytes]]


def run(*args: str) -> subprocess.CompletedProcess[str]:
    """Runs kb_reference and returns what it said."""
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, check=False)


def write(path: pathlib.Path, tensors: Tensors) -> pathlib.Path:
    """Writes a safetensors file from name -> (dtype, shape, little-endian data)."""
    header, data = {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        offsets = [len(data), len(data) + len(raw)]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def read(path: pathlib.Path) -> Tensors:
    """Reads a safetensors file back."""
    raw = path.read_bytes()
    (length,) = struct.unpack_from("<Q", raw)
    header, data = json.loads(raw[8 : 8 + length]), raw[8 + length :]
    return {
        name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
        for name, entry in header.items()
    }


def floats(*values: float) -> bytes:
    """Packs fp32 values."""
    return array.array("f", values).tobytes()


@pytest.fixture(name="x")
def fixture_x(tmp_path: pathlib.Path) -> pathlib.Path:
    """A [2, 3] input for relu."""
    values = floats(-1, 2, -3, 4, math.inf, -0.5)
    return write(tmp_path / "x.safetensors", {"input.0": ("F32", [2, 3], values)})


def test_runs_a_reference_on_given_tensors(x: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out.safetensors"
    done = run(*RELU, "--in", str(x), "--out", str(out))
    assert done.returncode == 0, done.stderr
    dtype, shape, raw = read(out)["output"]
    assert (dtype, shape) == ("F32", [2, 3])
    assert list(array.array("f", raw)) == [0, 2, 0, 4, math.inf, 0]


def test_a_stray_library_is_no_task(tmp_path: pathlib.Path) -> None:
    """The program looks beside itself, so a copy of it has other tasks."""
    program = tmp_path / "bin/kb_reference"
    tasks = tmp_path / "lib/tasks"
    program.parent.mkdir()
    tasks.mkdir(parents=True)
    shutil.copy(PROGRAM, program)
    real = pathlib.Path(PROGRAM).resolve().parent.parent / "lib/tasks"
    (tasks / "level1.019_relu.so").symlink_to(real / "level1.019_relu.so")
    (tasks / "stray.so").touch()
    done = subprocess.run([program, "--list"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [task["name"] for task in json.loads(done.stdout)] == ["level1/019_relu"]


def test_lists_every_task_folder() -> None:
    done = run("--list")
    assert done.returncode == 0, done.stderr
    tasks = {task["name"]: task for task in json.loads(done.stdout)}
    folders = {f"{p.parent.name}/{p.name}" for p in SOURCE_DIR.glob("level[1-4]/[0-9]*")}
    assert set(tasks) == folders
    norm = tasks["level1/040_layer_norm"]
    assert norm["sizes"] == {"batch_size": 16, "features": 64, "dim1": 256, "dim2": 256}
    assert [w["tensor"] for w in norm["weights"]] == ["param.ln.weight", "param.ln.bias"]
    assert norm["outputs"] == [
        {"name": "y", "tensor": "output", "shape": [16, 64, 256, 256], "dtype": "float32"}
    ]


def test_an_incomplete_list_is_an_error() -> None:
    with open("/dev/full", "w") as full:  # written to only, never replaced
        done = subprocess.run([PROGRAM, "--list"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert b"cannot write the list" in done.stderr


def test_list_takes_nothing_else() -> None:
    done = run("--list", "--task", "level1/019_relu")
    assert done.returncode == 1 and done.stdout == ""
    assert "leave out --task" in done.stderr


@pytest.mark.parametrize("seed", ["-1", "x", "1.5", "99999999999999999999"])
def test_a_seed_is_a_whole_number(seed: str, tmp_path: pathlib.Path) -> None:
    done = run(*RELU, "--make-inputs", seed, "--out", str(tmp_path / "out"))
    assert done.returncode != 0
    assert "--make-inputs" in done.stderr and seed in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["pipe", "folder", "link to a pipe"])
def test_only_files_are_replaced(kind: str, x: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Whatever else stands there (as root even a device) stays."""
    out = tmp_path / "out"
    pipe = tmp_path / "pipe" if kind == "link to a pipe" else out
    if kind == "folder":
        out.mkdir()
    else:
        os.mkfifo(pipe)
    if kind == "link to a pipe":
        out.symlink_to(pipe)
    before = sorted(p.name for p in tmp_path.iterdir())
    done = run(*RELU, "--in", str(x), "--out", str(out))
    assert done.returncode == 1
    assert f"{out}: it is no regular file" in done.stderr
    assert out.is_dir() or pipe.is_fifo()
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_replaces_the_file_behind_a_link(x: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out, link = tmp_path / "out", tmp_path / "link"
    out.write_text("old")
    link.symlink_to(out)
    bystander = tmp_path / "out.tmp"
    bystander.write_text("another's")
    assert run(*RELU, "--in", str(x), "--out", str(link)).returncode == 0
    assert link.is_symlink() and list(read(out)) == ["output"]
    assert bystander.read_text() == "another's"
    assert out.stat().st_mode & 0o777 == bystander.stat().st_mode & 0o777


def test_makes_the_file_that_a_link_names(x: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out, link = tmp_path / "out", tmp_path / "link"
    link.symlink_to(out)
    assert run(*RELU, "--in", str(x), "--out", str(link)).returncode == 0
    assert link.is_symlink() and list(read(out)) == ["output"]


def test_the_tensors_that_are_read_are_not_replaced(
    x: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    before = x.read_bytes()
    link = tmp_path / "link.safetensors"
    link.symlink_to(x)
    for out in (x, link):
        result = run(*RELU, "--in", str(x), "--out", str(out))
        assert (result.returncode, x.read_bytes()) == (1, before)
        assert "name another file" in result.stderr


def test_a_folder_that_is_missing_is_named(x: pathlib.Path, tmp_path: pathlib.Path) -> None:
    done = run(*RELU, "--in", str(x), "--out", str(tmp_path / "none/out"))
    assert done.returncode == 1
    assert "none/out: No such file or directory" in done.stderr


@pytest.mark.parametrize("inputs", ["default", "compat"])
def test_makes_inputs_that_a_seed_repeats(inputs: str, tmp_path: pathlib.Path) -> None:
    files = [tmp_path / name for name in ("a", "b", "c")]
    for file, seed in zip(files, ("7", "7", "8")):
        done = run(*RELU, "--make-inputs", seed, "--inputs", inputs, "--out", str(file))
        assert done.returncode == 0, done.stderr
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes() != files[2].read_bytes()
    values = array.array("f", read(files[0])["input.0"][2])
    assert all(0 <= v < 1 for v in values) == (inputs == "compat")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--task", "level1/999_none"], "no task is called"),
        (["--task", "level1/019_relu", "--size", "dims=3"], "no size is named 'dims'"),
        (["--task", "level1/019_relu", "--size", "dim=x"], "takes an integer"),
        (["--task", "level1/019_relu", "--size", "dim"], "NAME=VALUE"),
        (["--task", "level1/019_relu", "--size", "dim=-3"], "'dim' must be at least 1, not -3"),
        (["--task", "level1/019_relu", "--size", "dim=0"], "'dim' must be at least 1, not 0"),
        (["--task", "level1/019_relu", "--size", "dim=999999999999"], "GB; choose smaller ones"),
        (["--task", "level1/019_relu", "--size", f"dim={2**63 - 1}"], "GB; choose smaller ones"),
        (["--task", "level1/042_max_pooling_2d", "--size", "stride=0"], "'stride' must be"),
        (["--task", "level1/042_max_pooling_2d", "--size", "kernel_size=9999"], "leave 'y' no"),
        ([*RELU, "--size", "dim=4"], "--size dim is given twice"),
        ([*RELU, "--make-inputs", "3"], "leave out --in"),
        ([*RELU, "--inputs", "compat"], "leave out --inputs"),
        ([], "--task"),
    ],
)
def test_bad_arguments_are_named(
    args: list[str], message: str, x: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    done = run(*args, "--in", str(x), "--out", str(tmp_path / "out"))
    assert done.returncode != 0
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({}, "lacks the tensor 'input.0'"),
        ({"input.0": ("F32", [3, 2], floats(*range(6)))}, "must have the shape"),
        ({"input.0": ("F64", [2, 3], b"\0" * 48)}, "must be float32, not float64"),
        ({"input.0": ("I32", [2, 3], b"\0" * 24)}, "must be float32, not int32"),
        ({"input.0": ("U8", [2, 3], b"\0" * 6)}, "must be float32, not uint8"),
        (
            {"input.0": ("F32", [2, 3], floats(*range(6))), "input.1": ("F32", [1], floats(1))},
            "'input.1'",
        ),
        ({"input.0": ("F32", [2, 3], floats(1))}, "offsets do not fit"),
        ({"input.0": ("F32", [2**32, 2**32], b"")}, "larger than any file"),
        ({"input.0": ("F32", [-2, -3], floats(*range(6)))}, "the shape is negative"),
        ({"input.0": ("Q4", [2, 3], floats(*range(6)))}, "dtype Q4"),
    ],
)
def test_bad_tensors_are_named(tensors: Tensors, message: str, tmp_path: pathlib.Path) -> None:
    file = write(tmp_path / "bad.safetensors", tensors)
    done = run(*RELU, "--in", str(file), "--out", str(tmp_path / "out"))
    assert done.returncode != 0
    assert message in done.stderr


@pytest.mark.parametrize("content", [b"", b"\x10", b"\xff" * 8, struct.pack("<Q", 4) + b"nope"])
def test_a_broken_file_is_an_error(content: bytes, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "broken.safetensors"
    file.write_bytes(content)
    done = run(*RELU, "--in", str(file), "--out", str(tmp_path / "out"))
    assert done.returncode == 1
    assert "broken.safetensors" in done.stderr


def operators(*args: str) -> list[tuple[str, object]]:
    """What --operators lists: names, and first arguments."""
    done = run("--operators", *args)
    assert done.returncode == 0, done.stderr
    lines = json.loads(done.stdout)
    return [(line["operator"], next(iter(line["arguments"].values()))) for line in lines]


def test_lists_the_operators_of_a_call() -> None:
    x = {"shape": [2, 3], "dtype": "float32"}
    sizes = ["--size", "batch_size=2", "--size", "dim=3"]
    assert operators("level1/019_relu", *sizes) == [("aten::relu", x)]
    assert operators("level1/019_relu") != operators("level1/019_relu", *sizes), "at smoke"


def test_lists_what_nobody_needs_and_numbers_as_numbers() -> None:
    count = {"shape": [], "dtype": "int64"}
    done = run("--operators", "level1/033_batch_norm")
    called = {line["operator"]: line["arguments"] for line in json.loads(done.stdout)}
    assert called["aten::add_"] == {"self": count, "other": 1, "alpha": 1}
    norm = called["aten::native_batch_norm"]
    assert norm["running_mean"] == {"shape": [8], "dtype": "float32"}
    assert norm["training"] is True and norm["eps"] == 1e-5


def test_marks_views() -> None:
    done = run("--operators", "level1/092_cumsum_exclusive")
    marked = {line["operator"]: line.get("view", False) for line in json.loads(done.stdout)}
    assert marked["aten::slice"] and not marked["aten::cumsum"]


@pytest.mark.parametrize("other", ["--task", "--in", "--out", "--make-inputs", "--device"])
def test_operators_are_listed_alone(other: str) -> None:
    value = {"--task": "level1/019_relu", "--make-inputs": "1", "--device": "cpu"}.get(other, "x")
    done = run("--operators", "level1/019_relu", other, value)
    assert done.returncode == 1 and "--operators" in done.stderr and other in done.stderr
