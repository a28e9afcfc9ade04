// Fills of inputs and weights; in place and on the device, because full sizes are gigabytes.
#include "kb/fill.h"

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>

#ifdef KB_CUDA
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDAStream.h>

#include "reference/normal_rows.h"
#endif

namespace kb {
namespace {

// Rows are the last dimension; a vector is one row.
at::Tensor as_rows(at::Tensor& t) {
  return t.dim() < 2 ? t.view({1, -1}) : t.view({-1, t.size(-1)});
}

// Normal values around zero, each row with its own deviation: [rows, 1].
void fill_rows(at::Tensor rows, const at::Tensor& stddev, at::Generator& rng) {
#ifdef KB_CUDA
  if (rows.is_cuda() && rows.scalar_type() == at::kFloat) {
    const at::Tensor key = at::empty({1}, rows.options().dtype(at::kLong)).random_(rng);
    draw_normal_rows(rows.mutable_data_ptr<float>(), rows.size(0), rows.size(1),
                     stddev.const_data_ptr<float>(), key.const_data_ptr<int64_t>(),
                     c10::cuda::getCurrentCUDAStream());
    return;
  }
#endif
  rows.normal_(0.0, 1.0, rng).mul_(stddev);
}

void add_spikes(at::Tensor& out, at::Generator& rng) {
  constexpr int64_t period = 1000;
  constexpr double strength = 16.0;
  const int64_t count = out.numel() / period;
  if (count == 0) return;
  // One position in each period, so that no two spikes race for one element.
  at::Tensor at_index = at::empty({count}, out.options().dtype(at::kLong));
  at_index.random_(0, period, rng);
  at_index.add_(at::arange(count, at_index.options()), period);
  at::Tensor flat = out.view(-1);
  at::Tensor spike = at::empty({count}, out.options()).uniform_(-strength, strength, rng);
  flat.index_copy_(0, at_index, flat.index_select(0, at_index).abs_().clamp_min_(0.1).mul_(spike));
}

}  // namespace

Fill spiked() {
  return [](at::Tensor& out, at::Generator& rng) {
    constexpr double octaves = 4.0;
    const at::Tensor rows = as_rows(out);
    at::Tensor scale = at::empty({rows.size(0), 1}, out.options()).uniform_(-octaves, octaves, rng);
    fill_rows(rows, scale.exp2_(), rng);
    add_spikes(out, rng);
  };
}

Fill normal(double mean, double stddev) {
  return [=](at::Tensor& out, at::Generator& rng) { out.normal_(mean, stddev, rng); };
}

Fill uniform(double low, double high) {
  return [=](at::Tensor& out, at::Generator& rng) { out.uniform_(low, high, rng); };
}

Fill integers(int64_t low, int64_t high) {
  return [=](at::Tensor& out, at::Generator& rng) { out.random_(low, high, rng); };
}

Fill bernoulli(double probability) {
  return [=](at::Tensor& out, at::Generator& rng) { out.bernoulli_(probability, rng); };
}

Fill scaled(Fill values, double low, double high) {
  return [=](at::Tensor& out, at::Generator& rng) {
    values(out, rng);
    out.mul_(at::empty({}, out.options()).uniform_(low, high, rng));
  };
}

Fill constant(double value) {
  return [=](at::Tensor& out, at::Generator&) { out.fill_(value); };
}

Fill fan_in_uniform(int64_t fan_in) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
  return uniform(-bound, bound);
}

Fill fan_in_normal(int64_t fan_in) {
  return normal(0.0, 1.0 / std::sqrt(static_cast<double>(fan_in)));
}

at::Generator make_rng(at::Device device, uint64_t rng_seed) {
#ifdef KB_CUDA
  if (device.is_cuda()) {
    at::Generator rng = at::cuda::detail::createCUDAGenerator(device.index());
    rng.set_current_seed(rng_seed);
    return rng;
  }
#endif
  TORCH_CHECK(device.is_cpu(), "no generator for device ", device);
  return at::make_generator<at::CPUGeneratorImpl>(rng_seed);
}

}  // namespace kb
