# Set-up shared by quickstart and selftest: chooses what fits the machine, has the rest installed (tools/setup), configures.
# Sourced; defines kb_no_arguments, and kb_setup, which sets KB_PRESET and leaves a configured build tree.
# shellcheck shell=bash

# shellcheck source=tools/setup/packages.sh
source tools/setup/packages.sh
# shellcheck source=tools/setup/torch.sh
source tools/setup/torch.sh

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

# kb_check_preset: before anything is downloaded for a preset that is none.
kb_check_preset() {
  local presets
  presets=$(cmake --list-presets | sed -n 's/^ *"\([^"]*\)".*/\1/p') || presets=""
  [ -n "$presets" ] ||
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

kb_setup() {
  kb_use_bundle
  kb_say "packages"
  kb_install_packages
  kb_say "machine"
  kb_choose_preset
  kb_check_toolkit
  kb_check_resources
  kb_say "LibTorch"
  kb_install_torch
  kb_say "configure (preset $KB_PRESET)"
  # An empty folder, too: CMake would remember the one of an earlier call.
  local options=(-DKB_TORCH_DIR="${KB_TORCH_DIR:-}" ${KB_SIZES:+-DKB_SIZES="$KB_SIZES"} ${KB_TASKS:+-DKB_TASKS="$KB_TASKS"}) name
  [ "$KB_WAY" != fetch ] || options+=(-DKB_FETCH=ON -DKB_ARCHIVES="${KB_BUNDLE:+$KB_BUNDLE/archives}")
  for name in "${!FETCHCONTENT_SOURCE_DIR_@}"; do options+=("-D$name=${!name}"); done
  cmake --preset "$KB_PRESET" "${options[@]}" ||
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
