// Peaks through ATen and its libraries, timed by CUDA events.
#include "judge/device/peaks.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <functional>

#include "judge/acceptance/precision.h"

namespace kb {
namespace {

// Best of five windows of about 100 ms each.
double seconds_per_call(const std::function<void()>& call) {
  constexpr int windows = 5;
  constexpr double window_ms = 100;
  at::cuda::CUDAEvent start(cudaEventDefault), stop(cudaEventDefault);
  const auto time = [&](int calls) {
    start.record();
    for (int i = 0; i < calls; ++i) call();
    stop.record();
    stop.synchronize();
    return static_cast<double>(start.elapsed_time(stop));
  };
  time(3);
  const int calls = std::max(1, static_cast<int>(window_ms / time(1)));
  double best = 1e30;
  for (int i = 0; i < windows; ++i) best = std::min(best, time(calls) / calls);
  return best / 1e3;
}

double attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  TORCH_CHECK(cudaDeviceGetAttribute(&value, which, device) == cudaSuccess,
              "the GPU does not answer");
  return value;
}

}  // namespace

Json measure_peaks(int device) {
  const at::NoGradGuard no_grad;
  const c10::cuda::CUDAGuard current(static_cast<c10::DeviceIndex>(device));
  apply_precision("fp32");
  const auto options = at::TensorOptions(at::kFloat).device(at::kCUDA);
  size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  // Many times the L2, and never more than a quarter of what is free.
  const int64_t elements = static_cast<int64_t>(std::min<size_t>(size_t{2} << 30, free / 4) / 4);
  at::Tensor a = at::randn({elements}, options), b = at::empty_like(a);
  const double bytes = 4.0 * static_cast<double>(elements);
  const double copy = 2 * bytes / seconds_per_call([&] { b.copy_(a); });
  const double write = bytes / seconds_per_call([&] { b.zero_(); });
  const double read = bytes / seconds_per_call([&] { a.sum(); });
  a = b = at::Tensor();
  constexpr int64_t n = 8192;
  const auto product = [&](at::ScalarType type = at::kFloat) {
    const at::Tensor x = at::randn({n, n}, options).to(type),
                     y = at::randn({n, n}, options).to(type);
    return 2.0 * n * n * n / seconds_per_call([&] { at::mm(x, y); });
  };
  const double fp32 = product();
  apply_precision("tf32");
  const double tf32 = product();
  const double bf16 = product(at::kBFloat16);

  const auto of = [device](cudaDeviceAttr which) { return attribute(which, device); };
  // Memory transfers twice per clock. 128 FMA lanes per multiprocessor from compute capability 7.5
  // on at most; tensor cores do 16 times as much, and algorithms with fewer multiplications get 4.
  const double memory_limit =
      2e3 * of(cudaDevAttrMemoryClockRate) * of(cudaDevAttrGlobalMemoryBusWidth) / 8;
  const double lanes = 128 * of(cudaDevAttrMultiProcessorCount);
  const double flops_limit = 16 * 4 * 2 * lanes * 1e3 * of(cudaDevAttrClockRate);
  return {{"copy_bytes_per_s", copy},
          {"write_bytes_per_s", write},
          {"read_bytes_per_s", read},
          {"fp32_flops_per_s", fp32},
          {"tf32_flops_per_s", tf32},
          {"bf16_flops_per_s", bf16},
          {"limit_bytes_per_s", memory_limit},
          {"limit_flops_per_s", flops_limit},
          {"l2_bytes", of(cudaDevAttrL2CacheSize)}};
}

}  // namespace kb
