// Elementwise maps of one to three inputs, of all types, aligned or not.
#include <kb/map.cuh>

#include "blocks.h"

namespace {

struct Half {
  __device__ float operator()(float v) const { return v / 2; }
};
struct MultiplyAdd {
  static constexpr int rounds = 2;
  __device__ float operator()(float a, float b, float c) const { return a * b + c; }
};
struct Masked {
  __device__ float operator()(float v, bool mask) const { return mask ? v : 0; }
};
struct Twice {
  __device__ int64_t operator()(int64_t v) const { return 2 * v; }
};

template <class T>
void halves() {
  for (const int64_t n : sizes) {
    const std::vector<T> x = signed_values<T>(n);
    Buffer<T> in(x), out(n + 1, T(77.f));
    kb::launch_map(nullptr, n, Half{}, static_cast<T*>(out), static_cast<const T*>(in));
    KB_LAUNCHED();
    const std::vector<double> got = as_double(out.read()), from = as_double(x);
    for (int64_t i = 0; i < n; ++i) KB_EXPECT(near(got[i], from[i] / 2, unit<T>));
    KB_EXPECT(got[n] == 77);  // nothing is written past the end
  }
}

KB_FEATURE(map_one_input) { KB_FOR_EACH_TYPE(halves); }

struct Mish {
  __device__ float operator()(float v) const { return kb::mish(v); }
};

// Also where the exponential overflows, and on both sides of where the factor counts as 1.
KB_FEATURE(map_mish) {
  const std::vector<float> x = {-INFINITY, -200,   -90, -20,   -1.2f, -0.f, 1e-6f,    0.5f, 3,
                                19,        19.99f, 20,  20.1f, 45,    90,   INFINITY, NAN};
  const auto n = static_cast<int64_t>(x.size());
  Buffer<float> in(x), out(n, 77);
  kb::launch_map(nullptr, n, Mish{}, static_cast<float*>(out), static_cast<const float*>(in));
  KB_LAUNCHED();
  const std::vector<float> got = out.read();
  for (int64_t i = 0; i < n; ++i) {
    const double v = x[i];
    KB_EXPECT(near(got[i], v > 50 ? v : v * std::tanh(std::log1p(std::exp(v)))));
  }
}

template <class T>
void of_three() {
  for (const int64_t n : sizes) {
    const std::vector<T> x = signed_values<T>(n), y = signed_values<T>(n, 1);
    const std::vector<float> z = signed_values<float>(n, 2);
    Buffer<T> a(x), b(y), out(n, T(77.f));
    Buffer<float> c(z);
    kb::launch_map(nullptr, n, MultiplyAdd{}, static_cast<T*>(out), static_cast<const T*>(a),
                   static_cast<const T*>(b), static_cast<const float*>(c));
    KB_LAUNCHED();
    const std::vector<double> got = as_double(out.read()), p = as_double(x), q = as_double(y);
    for (int64_t i = 0; i < n; ++i) KB_EXPECT(near(got[i], p[i] * q[i] + z[i], 2 * unit<T>));
  }
}

KB_FEATURE(map_three_inputs_of_two_types) { KB_FOR_EACH_TYPE(of_three); }

// Every place in a vector that input and output may start at.
template <class T>
void shifted() {
  constexpr int n = 1000;
  const std::vector<T> x = signed_values<T>(n + 8);
  for (int from = 0; from < 8; ++from) {
    for (int to = 0; to < 8; ++to) {
      Buffer<T> in(x), out(n + 16, T(77.f));
      kb::launch_map(nullptr, n, Half{}, static_cast<T*>(out) + to,
                     static_cast<const T*>(static_cast<T*>(in) + from));
      KB_LAUNCHED();
      const std::vector<double> got = as_double(out.read()), given = as_double(x);
      for (int i = 0; i < n + 16; ++i) {
        const bool inside = i >= to && i < to + n;
        KB_EXPECT(near(got[i], inside ? given[i - to + from] / 2 : 77, unit<T>));
      }
    }
  }
}

KB_FEATURE(map_misaligned) { KB_FOR_EACH_TYPE(shifted); }

KB_FEATURE(map_in_place) {
  const std::vector<float> x = signed_values<float>(1000);
  Buffer<float> both(x);
  kb::launch_map(nullptr, 1000, Half{}, static_cast<float*>(both),
                 static_cast<const float*>(static_cast<float*>(both)));
  KB_LAUNCHED();
  const std::vector<float> got = both.read();
  for (int i = 0; i < 1000; ++i) KB_EXPECT(got[i] == x[i] / 2);
}

KB_FEATURE(map_bool_and_integers) {
  constexpr int n = 1003;
  const std::vector<float> x = signed_values<float>(n);
  const std::vector<unsigned char> mask = make<unsigned char>(n, [](int i) { return i % 3 == 0; });
  Buffer<float> in(x), out(n, 77);
  Buffer<unsigned char> bytes(mask);
  kb::launch_map(nullptr, n, Masked{}, static_cast<float*>(out), static_cast<const float*>(in),
                 reinterpret_cast<const bool*>(static_cast<unsigned char*>(bytes)));
  KB_LAUNCHED();
  const std::vector<float> got = out.read();
  for (int i = 0; i < n; ++i) KB_EXPECT(got[i] == (mask[i] ? x[i] : 0));

  // Integers are not rounded to float on their way.
  Buffer<int64_t> whole(make<int64_t>(n, [](int i) { return (int64_t{1} << 40) + i; }));
  kb::launch_map(nullptr, n, Twice{}, static_cast<int64_t*>(whole),
                 static_cast<const int64_t*>(static_cast<int64_t*>(whole)));
  KB_LAUNCHED();
  KB_EXPECT(whole.read() == make<int64_t>(n, [](int i) { return (int64_t{1} << 41) + 2 * i; }));
}

KB_FEATURE(map_of_nothing) {
  kb::launch_map(nullptr, 0, Half{}, static_cast<float*>(nullptr),
                 static_cast<const float*>(nullptr));
  KB_LAUNCHED();
}

// A grid that is smaller than its work, and blocks that work for themselves.
__global__ void few_threads(const float* x, float* y, int64_t n) {
  kb::map(
      kb::Grid{}, n, [](float v) { return v + 1; }, y, x);
}
__global__ void a_block_per_row(const float* x, float* y, int64_t n) {
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  kb::map(
      kb::Block{}, n, [](float v) { return v + 1; }, y, x);
}

KB_FEATURE(map_by_teams) {
  constexpr int n = 7 * 1001;
  const std::vector<float> x = signed_values<float>(n);
  for (const bool rows : {false, true}) {
    Buffer<float> in(x), out(n, 77);
    if (rows) {
      a_block_per_row<<<7, 64>>>(in, out, n / 7);
    } else {
      few_threads<<<3, 64>>>(in, out, n);
    }
    KB_LAUNCHED();
    const std::vector<float> got = out.read();
    for (int i = 0; i < n; ++i) KB_EXPECT(got[i] == x[i] + 1);
  }
}

}  // namespace
