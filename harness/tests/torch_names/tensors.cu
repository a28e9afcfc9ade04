// What kb/torch.h promises: sizes and strides, memory, copies, dispatch, the stream, an extension.
#include <kb/torch.h>

#include "../cpu/conformance/conformance.h"

using conformance::Buffer;
using conformance::make;
using kb::torch_names::Scope;

namespace {

std::vector<float> values(const at::Tensor& x) {
  std::vector<float> result(static_cast<size_t>(x.numel()));
  const at::Tensor dense = x.contiguous();
  cudaStreamSynchronize(kb::torch_names::stream());
  cudaMemcpy(result.data(), dense.data_ptr<float>(), result.size() * sizeof(float),
             cudaMemcpyDeviceToHost);
  return result;
}

std::vector<float> counted(int64_t n) {
  return make<float>(n, [](int i) { return static_cast<float>(i); });
}

KB_FEATURE(shapes) {
  Buffer<float> data(counted(24));
  const at::Tensor x = kb::torch_names::tensor(static_cast<const float*>(data), {2, 3, 4});
  KB_EXPECT(x.dim() == 3 && x.numel() == 24 && x.size(-1) == 4 && x.stride(0) == 12);
  KB_EXPECT(x.is_contiguous() && x.is_cuda() && x.scalar_type() == torch::kFloat32);
  const at::Tensor y = x.transpose(0, 2);
  KB_EXPECT(y.size(0) == 4 && y.stride(0) == 1 && !y.is_contiguous());
  KB_EXPECT(x.view({6, -1}).size(1) == 4 && x.flatten(1).size(1) == 12);
  KB_EXPECT(x.unsqueeze(1).size(1) == 1 && x.unsqueeze(1).squeeze(1).dim() == 3);
  KB_EXPECT(x.permute({1, 0, 2}).stride(0) == 4);
  KB_EXPECT(x.sizes() == at::IntArrayRef({2, 3, 4}));
  KB_EXPECT(!at::Tensor().defined());
}

KB_FEATURE(copies_of_views) {
  const Scope scope(nullptr);
  Buffer<float> data(counted(24));
  const at::Tensor x = kb::torch_names::tensor(static_cast<const float*>(data), {2, 3, 4});
  const std::vector<float> turned = values(x.transpose(0, 2));
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 3; ++b) {
      for (int c = 0; c < 2; ++c) KB_EXPECT(turned[(a * 3 + b) * 2 + c] == c * 12 + b * 4 + a);
    }
  }
  const std::vector<float> part = values(x.slice(2, 1, 3).select(0, 1));
  const std::vector<float> wanted = {13, 14, 17, 18, 21, 22};
  KB_EXPECT(part == wanted);
  KB_EXPECT(values(x.narrow(2, -2, 2)) == values(x.slice(2, 2, 4)));
  const at::Tensor padded = torch::zeros({4, 6}, x.options());
  padded.slice(0, 1, 3).slice(1, 2, 5).copy_(
      kb::torch_names::tensor(static_cast<const float*>(data), {2, 3}));
  const std::vector<float> all = values(padded);
  for (int i = 0; i < 24; ++i) {
    const int row = i / 6 - 1, column = i % 6 - 2;
    const bool inside = row >= 0 && row < 2 && column >= 0 && column < 3;
    KB_EXPECT(all[i] == (inside ? row * 3 + column : 0));
  }
}

KB_FEATURE(new_tensors) {
  const Scope scope(nullptr);
  KB_EXPECT(values(torch::full({5}, 2.5)) == std::vector<float>(5, 2.5f));
  KB_EXPECT(values(torch::zeros({3, 2})) == std::vector<float>(6, 0.f));
  const auto like = torch::empty_like(torch::ones({7}), torch::TensorOptions().dtype(torch::kLong));
  KB_EXPECT(like.scalar_type() == torch::kLong && like.nbytes() == 56);
  KB_EXPECT(torch::empty({0}).numel() == 0 && torch::empty({}).numel() == 1);
  KB_EXPECT(values(torch::zeros({2}, torch::kCUDA)) == std::vector<float>(2, 0.f));
  const at::Tensor number = torch::tensor(1.5, like.options().dtype(torch::kFloat));
  KB_EXPECT(number.dim() == 0 && values(number) == std::vector<float>{1.5f});
}

KB_FEATURE(last_steps) {
  const Scope scope(nullptr);
  Buffer<float> data(counted(10001));
  const at::Tensor x = kb::torch_names::tensor(static_cast<const float*>(data), {73, 137});
  KB_EXPECT(values(x.sum()) == std::vector<float>{50005000.f} && x.sum().dim() == 0);
  KB_EXPECT(values(x.mean()) == std::vector<float>{5000.f});
  KB_EXPECT(values(torch::sum(x)) == values(x.sum()) && values(torch::mean(x)) == values(x.mean()));
  KB_EXPECT(values(x.transpose(0, 1).slice(0, 0, 2).mean()) == std::vector<float>{4932.5f});
  KB_EXPECT(values(torch::zeros({0}).sum()) == std::vector<float>{0.f});
  KB_EXPECT(values(x[1]) == values(x.select(0, 1)) && x[-1].dim() == 1);
  const at::Tensor y = torch::full({3}, 6);
  KB_EXPECT(values(2 * (y - 1) + 4) == std::vector<float>(3, 14.f));
  KB_EXPECT(values(1 - y / 4) == std::vector<float>(3, -0.5f));
  y /= 2;
  y += 1.5;
  y *= 2;
  y -= 1;
  KB_EXPECT(values(y) == std::vector<float>(3, 8.f));
  const at::Tensor rows = torch::zeros({3, 2});
  rows[0] = 7;
  rows[2] = x[0].slice(0, 4, 6);
  KB_EXPECT(values(rows) == std::vector<float>({7, 7, 0, 0, 4, 5}));
  KB_EXPECT(at::maybe_wrap_dim(-1, 3) == 2 && at::maybe_wrap_dim(1, 3) == 1);
}

KB_FEATURE(the_output_is_lent) {
  Buffer<float> out(std::vector<float>(6, 77.f));
  {
    const Scope scope(nullptr, static_cast<float*>(out), 6);
    const at::Tensor other = torch::zeros({5});
    const at::Tensor y = torch::full({2, 3}, 4);
    const at::Tensor next = torch::full({2, 3}, 5);
    KB_EXPECT(y.data_ptr() == static_cast<float*>(out) && other.data_ptr() != y.data_ptr());
    KB_EXPECT(next.data_ptr() != y.data_ptr());
    scope.give(y, static_cast<float*>(out), 6);
    cudaDeviceSynchronize();
  }
  KB_EXPECT(out.read() == std::vector<float>(6, 4.f));
  {
    const Scope scope(nullptr, static_cast<float*>(out), 6);
    const at::Tensor scratch = torch::zeros({6});
    scope.give(torch::full({3, 2}, 9).transpose(0, 1), static_cast<float*>(out), 6);
    cudaDeviceSynchronize();
  }
  KB_EXPECT(out.read() == std::vector<float>(6, 9.f));
}

// An extension as they are written for PyTorch.
template <typename scalar_t>
__global__ void twice_kernel(const scalar_t* x, scalar_t* y, int n) {
  extern __shared__ char memory[];
  scalar_t* shared = reinterpret_cast<scalar_t*>(memory);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  shared[threadIdx.x] = i < n ? x[i] : static_cast<scalar_t>(0);
  __syncthreads();
  if (i < n) y[i] = shared[threadIdx.x] + x[i];
}

std::vector<torch::Tensor> twice(const torch::Tensor& x, c10::optional<double> = c10::nullopt) {
  TORCH_CHECK(x.is_cuda(), "x must be on the device, has ", x.sizes(), " elements");
  const at::cuda::OptionalCUDAGuard guard(device_of(x));
  auto y = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(
      x.scalar_type(), "twice", ([&] {
        twice_kernel<scalar_t><<<2, 32, 32 * sizeof(scalar_t), at::cuda::getCurrentCUDAStream()>>>(
            x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel());
      }));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return {y};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("twice", &twice, "twice as much", py::arg("x"), py::arg("y") = 1);
}

KB_FEATURE(an_extension) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  Buffer<float> data(counted(50));
  {
    const Scope scope(stream);
    const at::Tensor x = kb::torch_names::tensor(static_cast<const float*>(data), {5, 10});
    const std::vector<float> y = values(twice(x)[0]);
    for (int i = 0; i < 50; ++i) KB_EXPECT(y[i] == 2.f * i);
  }
  cudaStreamDestroy(stream);
}

KB_FEATURE(pythons_division) {
  using kb::torch_names::floor_divide;
  KB_EXPECT(floor_divide(int64_t(7), int64_t(2)) == 3);
  KB_EXPECT(floor_divide(int64_t(-7), int64_t(2)) == -4);
  KB_EXPECT(floor_divide(int64_t(-8), int64_t(2)) == -4);
  KB_EXPECT(floor_divide(7.5, 2.0) == 3);
}

}  // namespace
