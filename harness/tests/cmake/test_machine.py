"""Machines on which a build cannot work: each says so in one sentence with the remedy."""

import json
import os
import pathlib
import shlex
import shutil
import stat
import subprocess

import pytest
from conftest import BUILD_DIR, Tree, error_of, stopped


def fake_torch(root: pathlib.Path, version: str) -> pathlib.Path:
    """Makes what looks like the torch/ folder of a wheel without CUDA."""
    for name in ("include/ATen/ATen.h", "lib/libtorch_cpu.so"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (root / "version.py").write_text(f"__version__ = '{version}'\n")
    return root


def fake_nvcc(path: pathlib.Path, release: str, architecture: str) -> str:
    """Makes a program that answers like an nvcc of that release."""
    path.write_text(
        "#!/bin/sh\n"
        'case "$1" in\n'
        f'--version) echo "Cuda compilation tools, release {release}, V{release}.99" ;;\n'
        f"--list-gpu-arch) echo compute_{architecture} ;;\n"
        "esac\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_no_torch(tree: Tree, tmp_path: pathlib.Path) -> None:
    done = tree.configure(f"-DKB_TORCH_DIR={tmp_path}/nothing", build="other")
    stopped(done, f"{tmp_path}/nothing", "tools/quickstart")


def test_old_torch(tree: Tree, tmp_path: pathlib.Path) -> None:
    torch = fake_torch(tmp_path / "torch", "2.6.0+cu124")
    done = tree.configure(f"-DKB_TORCH_DIR={torch}", build="other")
    stopped(done, "'2.6.0+cu124'", "too old", "2.7", "tools/quickstart")


NEEDS_NVCC = pytest.mark.skipif(
    not shutil.which("nvcc", path=os.environ["PATH"] + ":/usr/local/cuda/bin"), reason="needs nvcc"
)


@NEEDS_NVCC
def test_torch_without_cuda(tree: Tree, tmp_path: pathlib.Path) -> None:
    torch = fake_torch(tmp_path / "torch", "2.11.0+cpu")
    done = tree.configure(f"-DKB_TORCH_DIR={torch}", preset="h200", build="gpu")
    stopped(done, "no CUDA support")


@NEEDS_NVCC
@pytest.mark.parametrize(
    ("needed", "lacking"), [("libkb_absent.so.1", "libkb_absent.so.1"), ("libcuda.so.1", None)]
)
def test_torch_set_up_without_a_gpu(
    tree: Tree, tmp_path: pathlib.Path, needed: str, lacking: str | None
) -> None:
    """The wheel is there, what it needs is not; the driver may be missing where one only builds."""
    torch = fake_torch(tmp_path / "torch", "2.11.0")
    for name, options in ((needed, []), ("libtorch_cuda.so", ["-Wl,--no-as-needed", needed])):
        command = ["c++", "-shared", "-x", "c", "/dev/null", "-x", "none", *options]
        command += ["-o", name, f"-Wl,-soname,{name}"]
        subprocess.run(command, cwd=torch / "lib", check=True)
    (torch / "lib" / needed).unlink()
    done = tree.configure(f"-DKB_TORCH_DIR={torch}", preset="h200", build="h200")
    if lacking:
        stopped(done, "lacks libraries", lacking, "KB_PRESET=h200 tools/quickstart")
    else:
        assert "lacks libraries" not in error_of(done)


def test_no_nvcc(tree: Tree) -> None:
    done = tree.configure(preset="h200", build="none", CUDACXX="/nonexistent/nvcc")
    stopped(done, "No nvcc")


def test_old_nvcc(tree: Tree, tmp_path: pathlib.Path) -> None:
    nvcc = fake_nvcc(tmp_path / "nvcc", "11.8", "90a")
    done = tree.configure(preset="h200", build="none", CUDACXX=nvcc)
    stopped(done, "11.8", "12.4")


def test_nvcc_older_than_the_gpu(tree: Tree, tmp_path: pathlib.Path) -> None:
    nvcc = fake_nvcc(tmp_path / "nvcc", "12.6", "90")
    done = tree.configure(preset="b200", build="none", CUDACXX=nvcc)
    stopped(done, "12.6", "sm_100")


def test_an_old_nvcc_does_not_disturb_the_cpu_backend(tree: Tree, tmp_path: pathlib.Path) -> None:
    nvcc = fake_nvcc(tmp_path / "nvcc", "11.8", "90")
    done = tree.configure(build="other", CUDACXX=nvcc)
    assert done.returncode == 0, done.stderr
    assert "not used" in done.stdout
    assert nvcc not in (tree.root / "build/other/CMakeFiles/rules.ninja").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-DKB_BACKEND=gpu"], "KB_BACKEND is 'gpu'"),
        (["-DKB_BACKEND=cuda"], "architecture"),
        (["-DKB_LANES=eager;compiled"], "compiled"),
        (["-DKB_LANES=eager"], "KB_LANES is 'eager'"),
        (["-DKB_CONTRACT=fp8"], "KB_CONTRACT is 'fp8'"),
        (["-DKB_SANITIZE=memory"], "KB_SANITIZE is 'memory'"),
        (["-DKB_BACKEND=cuda", "-DKB_SANITIZE=address"], "needs KB_BACKEND=cpu"),
        (["-DKB_SIZES=24"], "KB_SIZES is '24'"),
        (["-DKB_SIZES=full", "-DKB_PROFILE=ncu"], "needs a GPU's preset"),
    ],
)
def test_contradicting_options(tree: Tree, options: list[str], message: str) -> None:
    forget = ("-UKB_C*", "-UKB_L*")  # what an earlier case left in the cache
    done = tree.configure(*forget, *options, build="options")
    stopped(done, message)


@pytest.mark.parametrize("generator", ["Ninja Multi-Config", "Unix Makefiles"])
def test_another_generator_is_refused(tree: Tree, generator: str) -> None:
    stopped(tree.configure("-G", generator, build=generator.replace(" ", "")), "must be Ninja")


def test_kernels_are_not_joined(tree: Tree) -> None:
    stopped(tree.configure("-DCMAKE_UNITY_BUILD=ON", build="unity"), "CMAKE_UNITY_BUILD=OFF")


@pytest.mark.parametrize("name", ["a[b]", "a;b"])
def test_a_path_that_cmake_cannot_hold_is_told(tmp_path: pathlib.Path, name: str) -> None:
    (tmp_path / name).mkdir()
    stopped(Tree(tmp_path / name).configure(), "holds one of", "move the checkout")


def test_a_path_may_hold_spaces_and_quotation_marks(tmp_path: pathlib.Path) -> None:
    root = tmp_path / "o'brien's folder"
    root.mkdir()
    tree = Tree(root)
    done = tree.configure("-DKB_TASKS=level1/019_relu/")  # as shells complete a name
    assert done.returncode == 0, done.stderr
    commands = tree.run(["ninja", "-C", "build/cpu", "-t", "commands"]).stdout.splitlines()
    compiling = [command for command in commands if "candidate.cu.o -c " in command]
    words = shlex.split(compiling[0])
    assert words[words.index(f"{root}/harness/contract/entry.h") - 1] == "-include"


def test_the_isolation_can_be_told_to_a_file_and_from_any_path(
    build: pathlib.Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = build / "isolation.txt"
    with file.open("w") as out:
        subprocess.run([BUILD_DIR / "bin/kb_runner", "--isolation"], stdout=out, check=True)
    told = file.read_text().strip()
    assert told
    odd = tmp_path_factory.mktemp("odd") / "o'brien's $HOME"
    shutil.copytree(build, odd, symlinks=True)
    (odd / "env.json").unlink()
    command = [BUILD_DIR / "bin/kb_env", "--manifest", odd / "manifest.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads((odd / "env.json").read_text())["isolation"] == told


def test_a_remembered_option_is_shown(tree: Tree) -> None:
    assert tree.configure("-DKB_CONTRACT=tf32", build="remembered").returncode == 0
    again = tree.configure(build="remembered")
    assert "KB_CONTRACT is 'tf32'" in again.stdout
    stopped(tree.configure("-DKB_CONTRACT=fp8", build="remembered"), "-DKB_CONTRACT='kernelbench'")


def test_a_contract_decides_what_all_is_compiled_for(tree: Tree) -> None:
    tree.add("mine/level1/019_relu.cu")
    assert tree.configure("-DKB_CONTRACT=bf16", build="bf16").returncode == 0
    commands = json.loads((tree.root / "build/bf16/compile_commands.json").read_text())
    names = ("019_relu/reference.cpp", "019_relu/candidate.cu", "mine/level1/019_relu.cu")
    for name in names:
        (command,) = [c["command"] for c in commands if c["file"].endswith(name)]
        assert "-DKB_CONTRACT_BF16" in command


@pytest.mark.skipif(os.environ["KB_TEST_BACKEND"] != "cpu", reason="simulates a GPU on the CPU")
def test_a_build_for_another_gpu(tmp_path: pathlib.Path) -> None:
    (tmp_path / "manifest.json").write_text(
        json.dumps({"backend": "cuda", "cuda_architectures": "75-real"})
    )
    program = BUILD_DIR / "bin/kb_env_simulated"
    command = [program, "--manifest", tmp_path / "manifest.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "sm_75" in done.stderr and "sm_90" in done.stderr
    assert not (tmp_path / "env.json").exists()


@pytest.mark.skipif(os.environ["KB_TEST_BACKEND"] != "cpu", reason="simulates a GPU on the CPU")
def test_a_build_for_this_gpu(build: pathlib.Path) -> None:
    manifest = json.loads((build / "manifest.json").read_text())
    manifest |= {"backend": "cuda", "cuda_architectures": "90-real"}
    (build / "manifest.json").write_text(json.dumps(manifest))
    command = [BUILD_DIR / "bin/kb_env_simulated", "--manifest", build / "manifest.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    env = json.loads((build / "env.json").read_text())
    assert env["gpus"] == [env["gpu"]]
    spec = json.loads((build / "gpus.json").read_text())
    assert spec["local"] == [{"gpus": [{"id": "0", "slots": 2}]}]


LACKING = ("-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON",)


def test_a_package_that_is_missing(tree: Tree) -> None:
    done = tree.configure(*LACKING, build="packages")
    stopped(done, "CLI11", "tools/quickstart", "apt-get install libcli11-dev", "-DKB_FETCH=ON")


def test_an_archive_that_is_another(tree: Tree, tmp_path: pathlib.Path) -> None:
    """Whatever bears its name, it is its SHA-256 that counts."""
    (tmp_path / "cli11.tar.gz").write_bytes(b"another")
    done = tree.configure(*LACKING, "-DKB_FETCH=ON", f"-DKB_ARCHIVES={tmp_path}", build="packages")
    stopped(done, f"{tmp_path}/cli11.tar.gz", "hash")


@pytest.mark.parametrize("lacking", [(), LACKING])
def test_a_source_folder_comes_first(
    tree: Tree, tmp_path: pathlib.Path, lacking: tuple[str, ...]
) -> None:
    (tmp_path / "include").mkdir()
    folder = f"-DFETCHCONTENT_SOURCE_DIR_CLI11={tmp_path}"
    done = tree.configure(*lacking, folder, build="sources")
    assert done.returncode == 0, done.stderr
    assert f"cli11 is built from {tmp_path}" in done.stdout


def test_libseccomp_from_a_checkout_is_refused(tree: Tree, tmp_path: pathlib.Path) -> None:
    """It lacks what its release archive has generated."""
    folder = f"-DFETCHCONTENT_SOURCE_DIR_LIBSECCOMP={tmp_path}"
    stopped(tree.configure(folder, build="seccomp"), "syscalls.perf.c", "release archive")
