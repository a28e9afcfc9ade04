#!/usr/bin/env python3
"""Translates extensions of PyTorch and compiles what comes out: translated.py <folder> <compiler> <options>...

The compiler's options name the headers; each kernel is compiled in <folder> with its task's folder besides.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "reports"), str(ROOT / "tools/importer")]

from kb_import import launch, translate  # noqa: E402

HEAD = """
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline
"""

# A function with a check, a dispatch and a branch that depends on sizes.
RELU = (
    HEAD
    + '''
cuda = """
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
template <typename scalar_t>
__global__ void relu_kernel(const scalar_t* x, scalar_t* y, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : scalar_t(0);
}
std::vector<torch::Tensor> relu(torch::Tensor x, double unused, bool flag) {
  TORCH_CHECK(x.dim() == 2, "x has ", x.dim(), " dimensions");
  if (!flag) { return {torch::relu(x)}; }
  auto y = torch::empty({x.size(0), x.size(1)}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "relu", ([&] {
    relu_kernel<scalar_t><<<(x.numel() + 255) / 256, 256>>>(
        x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel());
  }));
  return {y};
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &relu, "relu"); }
"""
ops = load_inline(name="ops", cpp_sources="", cuda_sources=cuda, functions=["forward"])

class ModelNew(nn.Module):
    def forward(self, x):
        if x.size(1) // 2 > 10 and x.numel() / 3 > 1.5:
            return ops.forward(x.contiguous(), 1e-3, True)[0].view(x.shape)
        return torch.relu(x)
'''
)

# Weights by name, arithmetic with one of them, a buffer, and a function without a result.
LAYER_NORM = (
    HEAD
    + '''
cuda = """
void norm(const torch::Tensor& x, const torch::Tensor& w, const torch::Tensor& b,
          c10::optional<torch::Tensor> none, std::vector<int64_t> shape, torch::Tensor y) {}
"""

class ModelNew(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.ln = nn.LayerNorm(shape)
        self.half = nn.Parameter(self.ln.weight * 0.5 + 1)
        self.register_buffer("zero", torch.zeros(3))
        self.ops = load_inline(name="n", cpp_sources="", cuda_sources=cuda, functions=["norm"])

    def forward(self, x):
        y = torch.empty_like(x)
        self.ops.norm(x, self.half, self.ln.bias.view(-1), None, x.shape[1:], y)
        z = torch.zeros(x.size(0), 2, dtype=x.dtype, device=x.device)
        self.ops.norm(z, self.zero, self.ln.bias.t() if z.dim() > 2 else self.zero, None, (2, 3), y)
        return y

features, dim1, dim2 = 3, 4, 5

def get_init_inputs():
    return [(features, dim1, dim2)]
'''
)

# A launch that names grid and block.
SOFTMAX = (
    HEAD
    + '''
cuda = """
extern "C" __global__ void __launch_bounds__(256)
rows(const float* __restrict__ x, float* __restrict__ y, const int n, float scale) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = scale * x[i];
}
"""

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.ops = load_inline(name="n", cpp_sources="", cuda_sources=cuda, functions=["rows"])

    def forward(self, x):
        y = torch.empty_like(x)
        self.ops.rows(grid=(x.shape[0],), block=(min(256, x.shape[1]),), args=[x, y, x.shape[1], 2.0])
        return y
'''
)

SOURCES = {
    "level1/019_relu": RELU,
    "level1/040_layer_norm": LAYER_NORM,
    "level1/023_softmax": SOFTMAX,
}


def main() -> None:
    """Compiles every source; ends with the status of the first that does not compile."""
    folder, *command = sys.argv[1:]
    for task, source in SOURCES.items():
        path = pathlib.Path(folder) / (task.replace("/", ".") + ".cu")
        path.write_text(translate.translate(source, launch.read(task), "a test").source)
        compiled = [*command, f"-I{ROOT / task}", "-c", path, "-o", path.with_suffix(".o")]
        status = subprocess.run(compiled, check=False).returncode
        if status != 0:
            sys.exit(f"{path} does not compile (status {status})")


if __name__ == "__main__":
    main()
