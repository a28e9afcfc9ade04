# Packages that quickstart needs, and the ways to them: apt-get as root, apt-get as any user into .deps/, or release
# archives that CMake builds (KB_FETCH). Sourced by tools/lib/setup.sh.
# shellcheck shell=bash

# name on Debian and Ubuntu|what proves it is there|why|how it comes where apt-get does not install it: from PyPI, from an
# archive, not at all because it can be done without, or not at all (root)
KB_PACKAGES=(
  "cmake|command -v cmake|configures the build and runs the tests|pypi"
  "ninja-build|command -v ninja|runs the build|pypi"
  "g++|command -v g++|compiles references and harness|root"
  "lld|command -v ld.lld|links hundreds of programs quickly|without"
  "python3|command -v python3|makes the reports|root"
  "python3-venv|python3 -c 'import ensurepip, venv'|holds LibTorch in .venv|pip"
  "libgtest-dev|kb_has gtest/gtest.h|judges|archive"
  "libbenchmark-dev|kb_has benchmark/benchmark.h|times|archive"
  "nlohmann-json3-dev|kb_has nlohmann/json.hpp|reads and writes results|archive"
  "libcli11-dev|kb_has CLI/CLI.hpp|reads command lines|archive"
  "libseccomp-dev|kb_has seccomp.h|keeps candidates from processes and networks|archive"
  "libboost-context-dev|kb_has boost/context/detail/fcontext.hpp|CUDA threads on the CPU|archive"
)
KB_ROOT=.deps/root  # what is unpacked without root; harness/cmake/KbPackages.cmake looks there, too

kb_has() { [ -e "/usr/include/$1" ] || [ -e "$KB_ROOT/usr/include/$1" ]; }

# A version as one number: 3.25.1 -> 3025
kb_version() { printf '%s' "$1" | awk -F. '{print $1 * 1000 + $2}'; }

# kb_use_bundle: checks a folder that tools/bundle has made; then nothing asks for a network.
kb_use_bundle() {
  [ -n "${KB_BUNDLE:-}" ] || return 0
  [ -e "$KB_BUNDLE/SHA256SUMS" ] || kb_die "KB_BUNDLE=$KB_BUNDLE has no SHA256SUMS: make a bundle with tools/bundle"
  KB_BUNDLE=$(cd "$KB_BUNDLE" && pwd)
  (cd "$KB_BUNDLE" && sha256sum --check --quiet SHA256SUMS) ||
    kb_die "$KB_BUNDLE is not what tools/bundle made (the lines above name the files): copy it again"
  export PIP_NO_INDEX=1 PIP_FIND_LINKS=$KB_BUNDLE/wheels
  unset PIP_INDEX_URL PIP_EXTRA_INDEX_URL
}

# Sets KB_WAY to root, user or fetch.
kb_choose_way() {
  KB_SUDO=""
  if [ -n "${KB_BUNDLE:-}" ]; then
    KB_WAY=fetch
    echo "  everything from $KB_BUNDLE, without a network"
  elif [[ ${KB_FETCH:-0} =~ ^(1|ON|on)$ ]] || ! command -v apt-get >/dev/null; then
    KB_WAY=fetch
    echo "  what the system lacks is built from release archives, its tools come from PyPI"
  elif [ "$(id -u)" -eq 0 ]; then
    KB_WAY=root
  elif command -v sudo >/dev/null && sudo true; then
    KB_WAY=root
    KB_SUDO=sudo
  else
    KB_WAY=user
    echo "  you are not root and cannot use sudo: packages are unpacked into $KB_ROOT, tools come from PyPI into .venv"
  fi
}

# kb_missing <kind>...: names of the missing packages of these kinds; all without one. Says why each is needed.
kb_missing() {
  local entry name probe why kind
  KB_MISSING=()
  for entry in "${KB_PACKAGES[@]}"; do
    IFS='|' read -r name probe why kind <<<"$entry"
    [ $# -eq 0 ] || [[ " $* " == *" $kind "* ]] || continue
    eval "$probe" >/dev/null 2>&1 && continue
    KB_MISSING+=("$name")
    printf '  missing: %-22s %s\n' "$name" "$why"
  done
}

kb_install_packages() {
  # Tools of an earlier call.
  if [ -x .venv/bin/cmake ] || [ -x .venv/bin/ninja ]; then export PATH="$PWD/.venv/bin:$PATH"; fi
  kb_missing
  if [ ${#KB_MISSING[@]} -eq 0 ] && [ -z "${KB_FETCH:-}${KB_BUNDLE:-}" ]; then
    KB_WAY=root
    echo "  every package is there"
  else
    kb_choose_way
    [ "$KB_WAY" != root ] || [ ${#KB_MISSING[@]} -eq 0 ] || kb_apt_install "${KB_MISSING[@]}"
    [ "$KB_WAY" = root ] || kb_install_without_root
  fi
  kb_check_compilers
  kb_make_venv
  kb_install_tools
}

kb_apt_install() {
  # A failed update need not matter: other sources may be enough, and apt-get install decides.
  $KB_SUDO apt-get update -q || echo "  apt-get update failed; trying with the package lists as they are"
  $KB_SUDO env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" ||
    kb_die "apt-get could not install $* (its message is above): is there a network? Then run this again"
}

kb_install_without_root() {
  local names=()
  kb_missing root >/dev/null
  [ ${#KB_MISSING[@]} -eq 0 ] ||
    kb_die "without root this cannot be installed here: have root install ${KB_MISSING[*]} (names of Debian's packages), or load a module that has it"
  if [ "$KB_WAY" = user ]; then
    kb_missing archive >/dev/null
    names=("${KB_MISSING[@]}")
  fi
  # Without ensurepip, pip comes from its package or from the bundle.
  kb_missing pip >/dev/null
  if [ ${#KB_MISSING[@]} -gt 0 ] && [ -z "${KB_BUNDLE:-}" ] && [ -z "$(kb_pip_wheel)" ]; then
    command -v apt-get >/dev/null || kb_die "python3 has no ensurepip, which makes .venv: have root install it, or put a complete python3 first on PATH"
    names+=(python3-pip-whl)
  fi
  [ ${#names[@]} -eq 0 ] || kb_apt_unpack "${names[@]}"
}

# kb_apt_unpack <package>...: fetches them, and what they need that is not installed, as this user and into .deps/ alone.
kb_apt_unpack() {
  local state=$PWD/.deps/apt options file
  mkdir -p "$state"/{lists,archives}/partial "$KB_ROOT"
  options=(-q -o Dir::State="$state" -o Dir::State::lists="$state/lists" -o Dir::State::status=/var/lib/dpkg/status
    -o Dir::Cache="$state" -o Dir::Cache::archives="$state/archives" -o Dir::Log="$state" -o Debug::NoLocking=1)
  apt-get "${options[@]}" update || echo "  apt-get update failed; trying with the package lists as they are"
  apt-get "${options[@]}" install -y --no-install-recommends --download-only "$@" ||
    kb_die "apt-get could not fetch $* (its message is above): is there a network? Then run this again, or set KB_FETCH=1"
  for file in "$state"/archives/*.deb; do
    dpkg-deb --extract "$file" "$KB_ROOT" || kb_die "$file cannot be unpacked: remove .deps/ and run this again"
  done
}

kb_check_compilers() {
  local found
  found=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  [ "$(kb_version "$found")" -ge 3010 ] ||
    kb_die "Python $found is too old, 3.10 or newer is needed: put a newer python3 first on PATH"
  found=$("${CXX:-c++}" -dumpfullversion 2>/dev/null || echo 99)  # clang knows no such option
  [ "$(kb_version "$found")" -ge 12000 ] ||
    kb_die "g++ $found is too old, 12 or newer is needed: install one (Ubuntu 22.04: apt-get install g++-12) and set CXX to it"
}

# A wheel of pip: of the bundle, or of Debian's package python3-pip-whl.
kb_pip_wheel() {
  compgen -G "${KB_BUNDLE:-/nonexistent}/wheels/pip-*.whl" ||
    compgen -G "$KB_ROOT/usr/share/python-wheels/pip-*.whl" || true
}

# .venv holds LibTorch, what reports need, and tools that the system lacks.
kb_make_venv() {
  local wheel
  if .venv/bin/python -m pip --version >/dev/null 2>&1; then return 0; fi
  if python3 -c 'import ensurepip, venv' 2>/dev/null; then
    python3 -m venv .venv || kb_die "python3 -m venv .venv failed; on Debian and Ubuntu: apt-get install python3-venv"
  else
    wheel=$(kb_pip_wheel)
    python3 -m venv --without-pip .venv && .venv/bin/python "$wheel/pip" install -q --no-index --no-deps "$wheel" ||
      kb_die "python3 has no ensurepip and pip could not be unpacked into .venv: have root run: apt-get install python3-venv"
  fi
}

# CMake and Ninja that are missing or too old, as wheels. Newer CMakes than that of cmake-wheel.txt warn.
kb_install_tools() {
  local found wheels=()
  found=$(cmake --version 2>/dev/null | awk 'NR == 1 {print $3}') || true
  [ "$(kb_version "${found:-0}")" -ge 3025 ] || wheels+=("$(<tools/setup/cmake-wheel.txt)")
  command -v ninja >/dev/null || wheels+=(ninja)
  [ ${#wheels[@]} -gt 0 ] || return 0
  echo "  CMake ${found:-(none)} is too old or Ninja is missing: ${wheels[*]} from PyPI into .venv"
  .venv/bin/python -m pip install -q --disable-pip-version-check "${wheels[@]}" ||
    kb_die "pip could not install ${wheels[*]} (its message is above): is there a network? Then run this again"
  export PATH="$PWD/.venv/bin:$PATH"
}
