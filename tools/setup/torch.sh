# LibTorch, as the PyTorch wheel in .venv: which version fits the driver, and its installation. Sourced by
# tools/lib/setup.sh.
# shellcheck shell=bash

kb_have_torch() {
  compgen -G ".venv/lib/python3*/site-packages/torch-${KB_TORCH:-*}.dist-info/RECORD" >/dev/null || return 1
  # Set up without a GPU, the wheel lacks the libraries that CUDA needs.
  ! kb_on_gpu || .venv/bin/python -c 'import torch' 2>/dev/null
}

# kb_torch_for_driver: prints the CUDA that the driver runs and the version of PyTorch for it, by torch-versions.txt.
kb_torch_for_driver() {
  local driver="" from cuda version
  ! kb_on_gpu || driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1) || true
  driver=${driver%%.*}
  [[ $driver =~ ^[0-9]+$ ]] || driver=9999  # no GPU, or a machine that only builds
  while read -r from cuda version; do
    [[ $from =~ ^[0-9]+$ ]] && [ "$driver" -ge "$from" ] || continue
    echo "$cuda $version"
    return 0
  done <tools/setup/torch-versions.txt
  kb_die "the NVIDIA driver $driver is too old for every PyTorch in tools/setup/torch-versions.txt: have root update it, or set KB_PRESET=cpu"
}

# kb_check_toolkit: a driver of CUDA 12 runs nothing that nvcc 13 has compiled.
kb_check_toolkit() {
  local row cuda nvcc
  kb_on_gpu || return 0
  row=$(kb_torch_for_driver)
  cuda=${row% *}
  nvcc=$(nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p') || true
  [ -z "$nvcc" ] || [ "${nvcc%%.*}" -le "${cuda%%.*}" ] ||
    kb_die "nvcc is of CUDA $nvcc, but the driver runs CUDA ${cuda%%.*} at most: put the nvcc of a toolkit ${cuda%%.*}.4 or newer first on PATH, or have root update the driver"
}

kb_install_torch() {
  local python=.venv/bin/python version
  if ! $python -c 'import fastjsonschema, jinja2, pytest' 2>/dev/null; then
    $python -m pip install -q --disable-pip-version-check -r tools/report-requirements.txt ||
      kb_die "pip could not install fastjsonschema, Jinja2 and pytest (its message is above): is there a network? Then run this again"
  fi
  if [ -n "${KB_TORCH_DIR:-}" ]; then
    echo "  LibTorch: $KB_TORCH_DIR (from KB_TORCH_DIR)"
  elif kb_have_torch; then
    echo "  LibTorch is in .venv"
  else
    version=${KB_TORCH:-}
    if [ -z "$version" ]; then
      version=$(kb_torch_for_driver)
      version=${version#* }
    fi
    echo "  installing PyTorch $version into .venv (0.6 GB to download, 1.3 GB on disk; for a GPU 3 and 8 GB)"
    if kb_on_gpu; then
      kb_pip_torch "torch==$version"
    else
      kb_pip_torch --no-deps "torch==$version"
      # Without a GPU libtorch_cpu.so needs these two of CUDA's libraries alone.
      # shellcheck disable=SC2046
      kb_pip_torch $(kb_cuda_of_torch)
    fi
  fi
}

# kb_cuda_of_torch: the packages with CUDA's runtime and profiler that the PyTorch in .venv was built with.
kb_cuda_of_torch() {
  local cuda suffix=""
  cuda=$(sed -n "s/^cuda[^=]*= '\([0-9.]*\)'.*/\1/p" .venv/lib/python3*/site-packages/torch/version.py)
  [[ $cuda != 12.* ]] || suffix=-cu12
  [ -z "$cuda" ] || echo "nvidia-cuda-runtime$suffix==$cuda.* nvidia-cuda-cupti$suffix==$cuda.*"
}

kb_pip_torch() {
  .venv/bin/python -m pip install --disable-pip-version-check "$@" ||
    kb_die "pip could not install PyTorch (its message is above): is there a network? Then run this again, or set KB_TORCH_DIR=<site-packages>/torch"
}
