// What the tests of the building blocks share: sizes that divide nothing, element types, inputs.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../cpu/conformance/conformance.h"

using conformance::Buffer;
using conformance::make;
using conformance::near;

/// One element, one vector of any type, one block, several blocks; with and without a rest.
constexpr int64_t sizes[] = {1, 3, 4, 8, 31, 33, 257, 1024, 5000, 9001};

/// How far a result of about 1 may be off after it was rounded to T.
template <class T>
constexpr double unit = sizeof(T) == 4              ? 1e-5
                        : std::is_same_v<T, __half> ? 2e-3
                                                    : 1e-2;

/// Signed values of magnitude up to 2 that every element type can hold.
template <class T>
std::vector<T> signed_values(int64_t n, int seed = 0) {
  return make<T>(n, [&](int i) { return static_cast<float>((i * 37 + seed * 11) % 65 - 32) / 16; });
}

template <class T>
std::vector<double> as_double(const std::vector<T>& values) {
  std::vector<double> result;
  for (const T value : values) result.push_back(static_cast<float>(value));
  return result;
}

/// The test for each element type.
#define KB_FOR_EACH_TYPE(test) \
  do {                         \
    test<float>();             \
    test<__half>();            \
    test<__nv_bfloat16>();     \
  } while (0)
