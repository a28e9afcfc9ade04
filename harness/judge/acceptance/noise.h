// Stochastic arithmetic: the reference in fp64, with the roundings of a contract as noise at every
// operator. How far the outputs move is how far rounding can move a right kernel's.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "judge/acceptance/precision.h"

namespace kb {

/// Noise is so many times as large as the contract's roundings, and moves are divided by it: where
/// two scores of a softmax are nearly as large, a run that takes the other one shows it. With 4,
/// one flip in a hundred remains unseen by two pairs of runs; with 1, one in seven (simulated).
inline constexpr double noise_amplitude = 4;

/// Which noise a run has: equal seeds give equal noise, and `sign` -1 its mirror image.
struct NoiseSeed {
  uint64_t seed;
  double sign = 1;
};

/// Calls `run` with noise in every operator of ATen that it calls on this thread with tensors of
/// fp64. Operators that select or move values have none. A rounding by u is a factor of
/// 1 + u xi, where xi is a random sign times a number between 0.29 and 0.87, anew for each element;
/// elementary functions round their argument, too; sums lose what one thread loses that adds these
/// very terms one after the other; norms, softmax, losses and recurrent cells are taken apart into operators.
/// For references: what they compute may not depend on the values in any other way than through
/// operators.
/// @return what run() returns
std::vector<at::Tensor> with_noise(const Roundings& roundings, const NoiseSeed& noise,
                                   const std::function<std::vector<at::Tensor>()>& run);

/// The operators among those that `run` calls of which with_noise() does not know how they round.
/// It takes each for one rounding, which is too strict for a sum.
std::vector<std::string> operators_without_rule(const std::function<void()>& run);

}  // namespace kb
