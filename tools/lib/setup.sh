# Set-up shared by quickstart and selftest: finds what is missing, says why it is needed, installs it.
# Sourced; defines kb_no_arguments, and kb_setup, which sets KB_PRESET and leaves a configured build tree.
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
  "libseccomp-dev|test -e /usr/include/seccomp.h|keeps candidates from processes and networks"
  "libboost-context-dev|ls /usr/lib/*/libboost_context.so|CUDA threads on the CPU"
)

kb_say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
kb_die() {
  printf '\nerror: %s\n' "$*" >&2
  exit 1
}
# kb_no_arguments "$@": prints the comment at the head of the program for -h or --help, refuses all else.
kb_no_arguments() {
  local program=tools/${0##*/}
  [ $# -gt 0 ] || return 0
  if [ $# -eq 1 ] && [[ $1 == -h || $1 == --help ]]; then
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$program"
    exit 0
  fi
  printf 'usage: %s [-h|--help]; it takes no other arguments, only the environment that --help lists\n' \
    "$program" >&2
  exit 2
}
# A version as one number: 3.25.1 -> 3025
kb_version() { printf '%s' "$1" | awk -F. '{print $1 * 1000 + $2}'; }

kb_install_packages() {
  local missing=() entry name probe why
  for entry in "${KB_PACKAGES[@]}"; do
    IFS='|' read -r name probe why <<<"$entry"
    eval "$probe" >/dev/null 2>&1 && continue
    missing+=("$name")
    printf '  missing: %-22s %s\n' "$name" "$why"
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "  every package is there"
  else
    kb_apt_install "${missing[@]}"
  fi
  kb_check_versions
}

kb_apt_install() {
  local sudo=""
  command -v apt-get >/dev/null || kb_die "this is no Debian or Ubuntu (there is no apt-get): install by your own means: $*"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || kb_die "you are not root and there is no sudo: have root run: apt-get install $*"
    sudo true || kb_die "sudo refused: have root run: apt-get install $*"
    sudo=sudo
  fi
  # A failed update need not matter: other sources may be enough, and apt-get install decides.
  $sudo apt-get update -q || echo "  apt-get update failed; trying with the package lists as they are"
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" ||
    kb_die "apt-get could not install $* (its message is above): is there a network? Then run this again"
}

kb_check_versions() {
  local found
  found=$(cmake --version | awk 'NR == 1 {print $3}')
  [ "$(kb_version "$found")" -ge 3025 ] ||
    kb_die "CMake $found is too old, 3.25 or newer is needed: pip install cmake and put it first on PATH"
  found=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  [ "$(kb_version "$found")" -ge 3011 ] ||
    kb_die "Python $found is too old, 3.11 or newer is needed: put a newer python3 first on PATH"
  found=$("${CXX:-c++}" -dumpfullversion 2>/dev/null || echo 99)  # clang knows no such option
  [ "$(kb_version "$found")" -ge 12000 ] ||
    kb_die "g++ $found is too old, 12 or newer is needed: install one and set CXX to it"
}

# kb_check_preset: before anything is downloaded for a preset that is none.
kb_check_preset() {
  local presets
  presets=$(cmake --list-presets | sed -n 's/^ *"\([^"]*\)".*/\1/p') && [ -n "$presets" ] ||
    kb_die "cmake --list-presets failed; its message above says what to do"
  [[ $'\n'$presets$'\n' == *$'\n'$KB_PRESET$'\n'* ]] ||
    kb_die "there is no preset '$KB_PRESET': set KB_PRESET to one of ${presets//$'\n'/, }"
}

# Sets KB_PRESET from KB_PRESET itself, from a GPU with nvcc, or to cpu.
kb_choose_preset() {
  if [ -n "${KB_PRESET:-}" ]; then
    kb_check_preset
    echo "  preset $KB_PRESET (from KB_PRESET)"
    return 0
  fi
  KB_PRESET=cpu
  if ! nvidia-smi -L >/dev/null 2>&1; then
    echo "  no GPU: preset cpu"
    return 0
  fi
  if ! command -v nvcc >/dev/null && [ ! -x /usr/local/cuda/bin/nvcc ]; then
    echo "  a GPU but no nvcc: preset cpu. To use the GPU install the CUDA toolkit, put nvcc on PATH, run again."
    return 0
  fi
  command -v nvcc >/dev/null || export PATH="$PATH:/usr/local/cuda/bin"
  local name capability
  name=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1)
  case "$capability" in
    7.5) KB_PRESET=t4 ;;
    8.0) KB_PRESET=a100 ;;
    8.9) KB_PRESET=l40s ;;
    9.0) [[ $name == *H200* ]] && KB_PRESET=h200 || KB_PRESET=h100 ;;
    10.0) KB_PRESET=b200 ;;
    *) echo "  $name (compute capability $capability) has no preset yet (docs/adding-a-gpu.md)" ;;
  esac
  echo "  $name: preset $KB_PRESET"
  kb_choose_sizes
}

# Sets KB_SIZES from KB_SIZES itself, or from a GPU that is too small for most tasks at upstream's sizes.
kb_choose_sizes() {
  local memory_mib gb
  kb_on_gpu && [ -z "${KB_SIZES:-}" ] || return 0
  memory_mib=$(nvidia-smi --query-gpu=memory.total --format=csv,noheader,nounits | head -n 1) || return 0
  [[ $memory_mib =~ ^[0-9]+$ ]] || return 0  # not every GPU has memory of its own
  gb=$((memory_mib * 1048576 / 1000000000))
  [ "$gb" -lt 44 ] || return 0
  KB_SIZES=${gb}g
  echo "  its memory of $gb GB is too small for upstream's sizes: scaled ones, KB_SIZES=$KB_SIZES"
}

kb_on_gpu() { [[ $KB_PRESET != cpu* ]]; }

kb_have_torch() {
  compgen -G '.venv/lib/python3*/site-packages/torch-*.dist-info/RECORD' >/dev/null || return 1
  # Set up without a GPU, the wheel lacks the libraries that CUDA needs.
  ! kb_on_gpu || .venv/bin/python -c 'import torch' 2>/dev/null
}

kb_check_resources() {
  local need_gb=1 free_kb memory_kb
  [ -d "build/$KB_PRESET" ] || need_gb=3
  if [ -z "${KB_TORCH_DIR:-}" ] && ! kb_have_torch; then
    kb_on_gpu && need_gb=16 || need_gb=6
  fi
  free_kb=$(df -Pk . | awk 'NR == 2 {print $4}')
  memory_kb=$(awk '/^MemTotal/ {print $2}' /proc/meminfo)
  [ "$free_kb" -ge $((need_gb * 1000000)) ] ||
    kb_die "$((free_kb / 1000000)) GB of disk are free in $PWD, but LibTorch and the build take $need_gb GB: make room"
  [ "$memory_kb" -ge 3500000 ] ||
    kb_die "$((memory_kb / 1000000)) GB of memory are too little: compiling against LibTorch needs 4 GB"
  # Compiling or judging takes up to 1.5 GB a job.
  KB_JOBS=$((memory_kb / 1500000))
  [ "$KB_JOBS" -le "$(nproc)" ] || KB_JOBS=$(nproc)
}

kb_install_torch() {
  local python=.venv/bin/python deps=()
  if ! $python -m pip --version >/dev/null 2>&1; then
    python3 -m venv .venv || kb_die "python3 -m venv .venv failed; on Debian and Ubuntu: apt-get install python3-venv"
  fi
  if ! $python -c 'import fastjsonschema, jinja2, pytest' 2>/dev/null; then
    $python -m pip install -q --disable-pip-version-check -r tools/report-requirements.txt ||
      kb_die "pip could not install fastjsonschema, Jinja2 and pytest (its message is above): is there a network? Then run this again"
  fi
  if [ -n "${KB_TORCH_DIR:-}" ]; then
    echo "  LibTorch: $KB_TORCH_DIR (from KB_TORCH_DIR)"
  elif kb_have_torch; then
    echo "  LibTorch is in .venv"
  else
    kb_on_gpu || deps=(--no-deps)
    echo "  installing the PyTorch wheel into .venv (0.6 GB to download, 1.3 GB on disk; for a GPU 3 and 8 GB)"
    $python -m pip install --disable-pip-version-check "${deps[@]}" -r tools/torch-requirements.txt ||
      kb_die "pip could not install PyTorch (its message is above): is there a network? Then run this again, or set KB_TORCH_DIR=<site-packages>/torch"
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
  # An empty folder, too: CMake would remember the one of an earlier call.
  cmake --preset "$KB_PRESET" -DKB_TORCH_DIR="${KB_TORCH_DIR:-}" ${KB_SIZES:+-DKB_SIZES="$KB_SIZES"} ||
    kb_die "cmake failed; its last message above says what to do"
}

# kb_need_everything: CMake remembers what an earlier call has chosen, and configures no tests of the project with some of
# the tasks or a contract of 16 bits, and none of the example run without it.
kb_need_everything() {
  local cache=build/$KB_PRESET/CMakeCache.txt
  if ! grep -q '^KB_TASKS:[A-Z]*=\*$' "$cache" || ! grep -q '^KB_RUNS:[A-Z]*=\*$' "$cache" ||
    grep -q '^KB_CONTRACT:[A-Z]*=.*16$' "$cache"; then
    kb_die "build/$KB_PRESET leaves tests of the project out, as an earlier call of cmake chose: run cmake --preset $KB_PRESET -DKB_TASKS='*' -DKB_RUNS='*' -DKB_CONTRACT=kernelbench and then this again"
  fi
}

# kb_build <target...>
kb_build() {
  kb_say "build"
  cmake --build --preset "$KB_PRESET" --target "$@" -j "$KB_JOBS" ||
    kb_die "the build failed; the message above names the file. Run this again to continue where it stopped"
}
