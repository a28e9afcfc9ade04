// Pooling against the definition: 1 to 3 dimensions, padding, dilation, samples with gaps.
#include <kb/pool.cuh>

#include "blocks.h"

namespace {

using kb::PoolAxis;

template <class T>
void expect_pool(const kb::PoolShape& s, bool greatest) {
  const int64_t in = s.plane_stride(), out = int64_t{s.depth.out} * s.height.out * s.width.out;
  const int64_t stride = s.sample_stride == 0 ? s.channels * in : s.sample_stride;
  const int64_t samples = (s.planes + s.channels - 1) / s.channels;
  const auto values = signed_values<T>(samples * stride);
  Buffer<T> x(values), y(static_cast<size_t>(s.planes * out), T(0.f));
  const int64_t elements = int64_t{s.depth.kernel} * s.height.kernel * s.width.kernel;
  if (greatest) {
    kb::launch_pool<kb::GreatestOfWindow, T>(nullptr, s, {}, x, y);
  } else {
    kb::launch_pool<kb::MeanOfWindow, T>(nullptr, s, {static_cast<float>(elements)}, x, y);
  }
  KB_LAUNCHED();
  const auto got = as_double(y.read());
  const auto given = as_double(values);
  for (int64_t i = 0; i < s.planes * out; ++i) {
    const int64_t plane = i / out;
    const int64_t to[] = {i % out / s.width.out / s.height.out,
                          i % out / s.width.out % s.height.out, i % s.width.out};
    const PoolAxis axes[] = {s.depth, s.height, s.width};
    double want = greatest ? -INFINITY : 0;
    for (int64_t tap = 0; tap < elements; ++tap) {
      const int64_t taps[] = {tap / s.width.kernel / s.height.kernel,
                              tap / s.width.kernel % s.height.kernel, tap % s.width.kernel};
      int64_t at = 0;
      bool inside = true;
      for (int d = 0; d < 3; ++d) {
        const PoolAxis& a = axes[d];
        const int64_t place = to[d] * a.stride - a.padding + taps[d] * a.dilation;
        inside = inside && place >= 0 && place < a.in;
        at = at * a.in + place;
      }
      if (!inside) continue;
      const double v = given[plane / s.channels * stride + plane % s.channels * in + at];
      want = greatest ? std::max(want, v) : want + v / static_cast<double>(elements);
    }
    KB_EXPECT(near(got[i], want, unit<T>));
  }
}

template <class T>
void pools_of_all_kinds() {
  const kb::PoolShape shapes[] = {
      {3, {}, PoolAxis::of(300, 8, 1, 4, 3)},
      {2, {}, PoolAxis::of(9, 8, 3)},
      {5, PoolAxis::of(17, 4, 1, 1), PoolAxis::of(37, 4, 1, 1)},
      {2, PoolAxis::of(13, 2, 2), PoolAxis::of(12, 2, 2)},
      {1, PoolAxis::of(9, 5, 4, 2), PoolAxis::of(70, 3, 1, 1, 2)},
      {2, PoolAxis::of(20, 5, 1, 2), PoolAxis::of(40, 11, 2, 3)},
      {2, PoolAxis::of(20, 5, 2), PoolAxis::of(15, 2, 1)},
      {4, PoolAxis::of(11, 3, 2, 1, 3), PoolAxis::of(12, 3, 2, 1, 3), PoolAxis::of(10, 3, 2, 1, 3)},
      {6, PoolAxis::of(5, 3, 2, 1), PoolAxis::of(6, 3, 2, 1), {}, 3, 100},
      {1, PoolAxis::of(1, 1, 1), PoolAxis::of(1, 1, 1)},
  };
  for (const kb::PoolShape& shape : shapes) {
    for (const bool greatest : {true, false}) expect_pool<T>(shape, greatest);
  }
}

KB_FEATURE(pools_of_any_type) { KB_FOR_EACH_TYPE(pools_of_all_kinds); }

KB_FEATURE(a_pool_passes_nan_on) {
  auto values = signed_values<float>(40);
  values[17] = NAN;
  Buffer<float> x(values), y(size_t{39}, 0.f);
  kb::launch_pool<kb::GreatestOfWindow, float>(nullptr, {1, {}, PoolAxis::of(40, 2, 1)}, {}, x, y);
  KB_LAUNCHED();
  const auto got = y.read();
  for (int i = 0; i < 39; ++i) KB_EXPECT(std::isnan(got[i]) == (i == 16 || i == 17));
}

}  // namespace
