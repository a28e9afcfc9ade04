// Batch norms with the statistics of their batch: of channels, and of columns.
#include <kb/batch_norm.cuh>

#include "blocks.h"

namespace {

constexpr float eps = 0.25f, factor = -1.5f;  // so large that a norm without them is wrong

struct Relu {
  __device__ float operator()(float v) const { return v < 0 ? 0 : v; }
};

/// Values [outer, norms, inner], each minus its norm's mean, divided by sqrt(var + eps), times the
/// norm's weight, plus its bias.
template <class T>
std::vector<double> normalised(int64_t outer, int64_t norms, int64_t inner, const std::vector<T>& y,
                               const std::vector<T>& weight, const std::vector<T>& bias) {
  std::vector<double> result = as_double(y);
  const auto count = static_cast<double>(outer * inner);
  for (int64_t norm = 0; norm < norms; ++norm) {
    double mean = 0, variance = 0;
    const auto each = [&](const auto& use) {
      for (int64_t i = 0; i < outer * inner; ++i) {
        use(result[(i / inner * norms + norm) * inner + i % inner]);
      }
    };
    each([&](double v) { mean += v / count; });
    each([&](double v) { variance += (v - mean) * (v - mean) / count; });
    each([&](double& v) {
      v = (v - mean) / std::sqrt(variance + eps) * static_cast<float>(weight[norm]) +
          static_cast<float>(bias[norm]);
    });
  }
  return result;
}

template <class T>
void norms_of_channels() {
  struct Shape {
    int64_t samples, channels, n;
  };
  // One block; several channels and samples, misaligned; more than a block's threads.
  std::vector<Shape> shapes = {{1, 1, 1}, {3, 5, 33}, {2, 2, 5001}};
#ifdef __NVCC__  // two million threads: more samples than a channel has parts
  shapes.push_back({1500, 1, 2});
#endif
  for (const Shape& s : shapes) {
    const int64_t size = s.samples * s.channels * s.n;
    const std::vector<T> y = signed_values<T>(size);
    const std::vector<T> weight = signed_values<T>(s.channels, 1);
    const std::vector<T> bias = signed_values<T>(s.channels, 2);
    Buffer<T> out(y), weight_device(weight), bias_device(bias);
    kb::launch_batch_norm(nullptr, s.samples, s.channels, s.n, static_cast<const T*>(weight_device),
                          static_cast<const T*>(bias_device), eps, factor, static_cast<T*>(out));
    KB_LAUNCHED();
    const std::vector<double> got = as_double(out.read());
    const std::vector<double> expected = normalised(s.samples, s.channels, s.n, y, weight, bias);
    for (int64_t i = 0; i < size; ++i) {
      KB_EXPECT(near(got[i], expected[i] * factor, unit<T>));
    }
  }
}

KB_FEATURE(batch_norm_of_channels) { KB_FOR_EACH_TYPE(norms_of_channels); }

template <class T>
void norms_of_columns() {
  struct Shape {
    int64_t rows, columns;
  };
  // Fewer rows than a thread takes, a rest of them, more than a grid has blocks for; several blocks
  // of columns.
  for (const Shape s : {Shape{1, 1}, Shape{5, 3}, Shape{21, 300}, Shape{2100, 2}}) {
    const int64_t size = s.rows * s.columns;
    const std::vector<T> y = signed_values<T>(size);
    const std::vector<T> weight = signed_values<T>(s.columns, 1);
    const std::vector<T> bias = signed_values<T>(s.columns, 2);
    Buffer<T> out(y), weight_device(weight), bias_device(bias);
    kb::launch_batch_norm_of_columns(
        nullptr, s.rows, s.columns, static_cast<const T*>(weight_device),
        static_cast<const T*>(bias_device), eps, Relu{}, static_cast<T*>(out));
    KB_LAUNCHED();
    const std::vector<double> got = as_double(out.read());
    const std::vector<double> expected = normalised(s.rows, s.columns, 1, y, weight, bias);
    for (int64_t i = 0; i < size; ++i) {
      KB_EXPECT(near(got[i], std::fmax(expected[i], 0), unit<T>));
    }
  }
}

KB_FEATURE(batch_norm_of_columns) { KB_FOR_EACH_TYPE(norms_of_columns); }

KB_FEATURE(batch_norm_of_nothing) {
  float* const nothing = nullptr;
  kb::launch_batch_norm(nullptr, 0, 3, 5, nothing, nothing, eps, factor, nothing);
  kb::launch_batch_norm_of_columns(nullptr, 0, 3, nothing, nothing, eps, Relu{}, nothing);
  KB_LAUNCHED();
}

}  // namespace
