# Set-up shared by quickstart and selftest: finds what is missing, says why it is needed, installs it.
# Sourced; defines kb_setup, which sets KB_PRESET and leaves a configured build tree.
# shellcheck shell=bash

# Debian/Ubuntu packages: name|what proves it is there|why
KB_PACKAGES=(
  "cmake|command -v cmake|configures the build and runs the tests"
  "ninja-build|command -v ninja|runs the build"
  "g++|command -v g++|compiles references and harness"
  "lld|command -v ld.lld|links hundreds of programs quickly"
  "python3|command -v python3|makes the reports"
  "python3-venv|python3 -c 'import ensurepip, venv'|holds LibTorch in .venv"
  "libgtest-dev|test -e /usr/include/gtest/gtest.h|judges"
  "libbenchmark-dev|test -e /usr/include/benchmark/benchmark.h|times"
  "nlohmann-json3-dev|test -e /usr/include/nlohmann/json.hpp|reads and writes results"
  "libcli11-dev|test -e /usr/include/CLI/CLI.hpp|reads command lines"
  "libboost-context-dev|ls /usr/lib/*/libboost_context.so|CUDA threads on the CPU"
)

kb_say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
kb_die() {
  printf '\nerror: %s\n' "$*" >&2
  exit 1
}

kb_install_packages() {
  local missing=() entry name probe why
  for entry in "${KB_PACKAGES[@]}"; do
    IFS='|' read -r name probe why <<<"$entry"
    eval "$probe" >/dev/null 2>&1 && continue
    missing+=("$name")
    printf '  missing: %-22s %s\n' "$name" "$why"
  done
  [ ${#missing[@]} -eq 0 ] && { echo "  every package is there"; return; }
  command -v apt-get >/dev/null || kb_die "this is no Debian or Ubuntu; install by your own means: ${missing[*]}"
  local sudo=""
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || kb_die "run as root (there is no sudo): apt-get install ${missing[*]}"
    sudo=sudo
  fi
  $sudo apt-get update -q || kb_die "apt-get update failed: is there a network? Then again, or install by hand: ${missing[*]}"
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" ||
    kb_die "apt-get could not install: ${missing[*]}"
}

# Sets KB_PRESET from KB_PRESET itself, from a GPU with nvcc, or to cpu.
kb_choose_preset() {
  [ -n "${KB_PRESET:-}" ] && { echo "  preset $KB_PRESET (from KB_PRESET)"; return; }
  KB_PRESET=cpu
  command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1 || { echo "  no GPU: preset cpu"; return 0; }
  if ! command -v nvcc >/dev/null && [ ! -x /usr/local/cuda/bin/nvcc ]; then
    echo "  a GPU but no nvcc: preset cpu. For the GPU install the CUDA toolkit, put nvcc on PATH, run again."
    return 0
  fi
  local name capability
  name=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1)
  case "$capability" in
    7.5) KB_PRESET=t4 ;;
    8.0) KB_PRESET=a100 ;;
    8.9) KB_PRESET=l40s ;;
    9.0) [[ $name == *H200* ]] && KB_PRESET=h200 || KB_PRESET=h100 ;;
    10.0) KB_PRESET=b200 ;;
    *) echo "  $name (compute capability $capability) has no preset (docs: CONTRIBUTING.md, \"Add a GPU\"): preset cpu" ;;
  esac
  echo "  $name: preset $KB_PRESET"
}

kb_check_resources() {
  local need_gb=6 free_kb memory_kb
  [ "$KB_PRESET" != cpu ] && need_gb=16
  free_kb=$(df -Pk . | awk 'NR == 2 {print $4}')
  memory_kb=$(awk '/^MemTotal/ {print $2}' /proc/meminfo)
  [ -d .venv ] || [ "$free_kb" -ge $((need_gb * 1000000)) ] ||
    kb_die "$((free_kb / 1000000)) GB of disk are free here; LibTorch and the build take $need_gb GB"
  [ "$memory_kb" -ge 3500000 ] ||
    kb_die "$((memory_kb / 1000000)) GB of memory are too little; compiling against LibTorch needs 4 GB"
}

# A torch that CMake would find by itself (an active environment) is used as it is.
kb_install_torch() {
  local python=.venv/bin/python
  if [ ! -x $python ]; then
    python3 -m venv .venv || kb_die "python3 -m venv .venv failed; on Debian: apt-get install python3-venv"
  fi
  if ! $python -c 'import jinja2, pytest' 2>/dev/null; then
    $python -m pip install -q --disable-pip-version-check -r tools/report-requirements.txt ||
      kb_die "pip could not install jinja2 and pytest: is there a network?"
  fi
  if [ -n "${KB_TORCH_DIR:-}" ]; then
    echo "  LibTorch: $KB_TORCH_DIR (from KB_TORCH_DIR)"
  elif compgen -G '.venv/lib/python3*/site-packages/torch/lib/libtorch_cpu.so' >/dev/null; then
    echo "  LibTorch is in .venv"
  else
    local deps=--no-deps
    [ "$KB_PRESET" != cpu ] && deps=
    echo "  installing the PyTorch wheel into .venv (about 0.6 GB to download, 1.3 GB on disk; with a GPU 5 GB)"
    # shellcheck disable=SC2086
    $python -m pip install --disable-pip-version-check $deps -r tools/torch-requirements.txt ||
      kb_die "pip could not install PyTorch: is there a network? A wheel elsewhere: KB_TORCH_DIR=<site-packages>/torch"
  fi
}

kb_setup() {
  kb_say "packages"
  kb_install_packages
  kb_say "machine"
  kb_choose_preset
  kb_check_resources
  kb_say "LibTorch"
  kb_install_torch
  kb_say "configure (preset $KB_PRESET)"
  cmake --preset "$KB_PRESET" ${KB_TORCH_DIR:+-DKB_TORCH_DIR="$KB_TORCH_DIR"} ||
    kb_die "cmake failed; its last message above says what to do"
}

kb_build() {
  kb_say "build"
  cmake --build --preset "$KB_PRESET" || kb_die "the build failed; the message above names the file"
}
