// How the judge fills tensors: on their own device, in place, from one seeded generator.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <optional>
#include <string>

namespace kb {

/// Fills a tensor in place. The same generator state gives the same values on the same device.
using Fill = std::function<void(at::Tensor& out, at::Generator& rng)>;

/// The default for fp32 inputs: signed normal values, every row scaled by its own 2^[-4, 4], and
/// one element in a thousand replaced by a spike of up to 16 rows' standard deviations. Zeros,
/// constants, identities, means and samples of such inputs are far from the right answer
/// (KernelBench fills everything from [0, 1), where ReLU is the identity).
Fill spiked();

/// Normal values with the given mean and standard deviation.
Fill normal(double mean = 0.0, double stddev = 1.0);

/// Uniform values in [low, high).
Fill uniform(double low = 0.0, double high = 1.0);

/// Integers in [low, high).
Fill integers(int64_t low, int64_t high);

/// True (or 1) with the given probability.
Fill bernoulli(double probability);

/// `values` times one number from [low, high), which a mean of everything does not average away.
Fill scaled(Fill values, double low, double high);

/// All elements equal to `value`.
Fill constant(double value);

/// PyTorch's default initialisation of a layer with `fan_in` inputs: U(-1/sqrt(n), 1/sqrt(n)).
Fill fan_in_uniform(int64_t fan_in);

/// Gain-preserving weights of a layer with `fan_in` inputs: normal with deviation 1/sqrt(n).
Fill fan_in_normal(int64_t fan_in);

/// A generator for the tensor's device, seeded.
at::Generator make_rng(at::Device device, uint64_t rng_seed);

}  // namespace kb
