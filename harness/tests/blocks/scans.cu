// Scans of any length by a warp and by a block: inclusive, exclusive, reversed.
#include <kb/scan.cuh>

#include "blocks.h"

namespace {

template <class Team, class Op, class T>
__global__ void scan_row(Team team, Op op, const T* x, float* y, int64_t n) {
  kb::scan(
      team, n, op, [=](int64_t i) { return kb::element(x, i); },
      [=](int64_t i, float v) { y[i] = v; });
}

template <class Team>
__global__ void scan_backwards(Team team, const float* x, float* y, int64_t n) {
  kb::scan(
      team, n, kb::Sum{}, [=](int64_t i) { return i > 0 ? x[n - i] : 0; },
      [=](int64_t i, float v) { y[n - 1 - i] = v; });
}

template <class T>
void inclusive() {
  for (const int64_t n : sizes) {
    const std::vector<T> x = signed_values<T>(n);
    for (const int threads : {0, 32, 96, 1024}) {
      Buffer<T> in(x);
      Buffer<float> out(n + 1, 77);
      const T* start = static_cast<T*>(in);
      if (threads == 0) {
        scan_row<<<1, 32>>>(kb::Warp{}, kb::Sum{}, start, static_cast<float*>(out), n);
      } else {
        scan_row<<<1, threads>>>(kb::Block{}, kb::Sum{}, start, static_cast<float*>(out), n);
      }
      KB_LAUNCHED();
      const std::vector<float> got = out.read();
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        sum += static_cast<float>(x[i]);
        KB_EXPECT(near(got[i], sum, 1e-4));
      }
      KB_EXPECT(got[n] == 77);
    }
  }
}

KB_FEATURE(scan_sums) { KB_FOR_EACH_TYPE(inclusive); }

// Rows that fill no block, and more than one.
template <class T>
void rows_of_scans() {
  for (const int64_t rows : {1, 8, 19}) {
    for (const int64_t n : {1, 31, 257}) {
      const std::vector<T> x = signed_values<T>(rows * n);
      Buffer<T> in(x);
      Buffer<float> out(rows * n + 1, 77);
      kb::launch_scan(nullptr, rows, n, kb::Sum{}, static_cast<float*>(out),
                      static_cast<const T*>(in));
      KB_LAUNCHED();
      const std::vector<float> got = out.read();
      double sum = 0;
      for (int64_t i = 0; i < rows * n; ++i) {
        sum = (i % n == 0 ? 0 : sum) + static_cast<float>(x[i]);
        KB_EXPECT(near(got[i], sum, 1e-4));
      }
      KB_EXPECT(got[rows * n] == 77);
    }
  }
}

KB_FEATURE(scan_rows_of_any_type) { KB_FOR_EACH_TYPE(rows_of_scans); }

KB_FEATURE(scan_no_rows) {
  kb::launch_scan(nullptr, 0, 5, kb::Sum{}, static_cast<float*>(nullptr),
                  static_cast<const float*>(nullptr));
  KB_LAUNCHED();
}

KB_FEATURE(scan_products) {
  const std::vector<float> x = make<float>(3000, [](int i) { return i % 7 == 0 ? -1.f : 1.f; });
  for (const bool by_block : {false, true}) {
    Buffer<float> in(x), out(3000, 77);
    const float* start = static_cast<float*>(in);
    if (by_block) {
      scan_row<<<1, 256>>>(kb::Block{}, kb::Product{}, start, static_cast<float*>(out), 3000);
    } else {
      scan_row<<<1, 32>>>(kb::Warp{}, kb::Product{}, start, static_cast<float*>(out), 3000);
    }
    KB_LAUNCHED();
    const std::vector<float> got = out.read();
    for (int i = 0; i < 3000; ++i) KB_EXPECT(got[i] == (i / 7 % 2 == 0 ? -1 : 1));
  }
}

KB_FEATURE(scan_reversed_and_exclusive) {
  for (const int64_t n : sizes) {
    const std::vector<float> x = signed_values<float>(n);
    for (const bool by_block : {false, true}) {
      Buffer<float> in(x), out(n, 77);
      if (by_block) {
        scan_backwards<<<1, 128>>>(kb::Block{}, in, out, n);
      } else {
        scan_backwards<<<1, 32>>>(kb::Warp{}, in, out, n);
      }
      KB_LAUNCHED();
      const std::vector<float> got = out.read();
      double sum = 0;
      for (int64_t i = n - 1; i >= 0; --i) {
        KB_EXPECT(near(got[i], sum, 1e-4));
        sum += x[i];
      }
    }
  }
}

}  // namespace
