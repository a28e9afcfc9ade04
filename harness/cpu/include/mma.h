// wmma fragments on the CPU: lane l holds elements l, l + 32, ... of the tile, so element-wise use
// of fragments with the same shape and kind works as on the GPU.
#pragma once
#pragma GCC system_header

#include "cuda_bf16.h"
#include "cuda_fp16.h"

KB_DEVICE_CODE_BEGIN
namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32;
}  // namespace precision

namespace detail {
template <class Use, int M, int N, int K>
struct Shape {
  static constexpr int rows = std::is_same_v<Use, matrix_b> ? K : M;
  static constexpr int columns = std::is_same_v<Use, matrix_a> ? K : N;
};
/// What the tensor core reads of an operand: TF32 keeps 10 bits of the mantissa.
template <class T, class Sum, class V>
Sum operand(V value) {
  if constexpr (std::is_same_v<T, precision::tf32>)
    return kb::cpu::bits<float>(kb::cpu::bits<unsigned>(float(value)) & 0xffffe000u);
  else
    return static_cast<Sum>(value);
}
/// CUDA saturates integers only.
template <class D, class Sum>
D rounded(Sum value, bool saturate) {
  if constexpr (std::is_integral_v<D>) {
    using Limits = std::numeric_limits<D>;
    if (saturate && value < Limits::min()) return Limits::min();
    if (saturate && value > Limits::max()) return Limits::max();
  }
  return static_cast<D>(value);
}
}  // namespace detail

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  using element_type = std::conditional_t<std::is_same_v<T, precision::tf32>, float, T>;
  using storage_element_type = element_type;
  using Shape = detail::Shape<Use, M, N, K>;
  static constexpr int num_elements = Shape::rows * Shape::columns / 32;
  static constexpr int num_storage_elements = num_elements;
  element_type x[num_elements];
};

template <class Use, int M, int N, int K, class T, class Layout, class V>
void fill_fragment(fragment<Use, M, N, K, T, Layout>& f, V value) {
  for (auto& element : f.x) element = static_cast<std::decay_t<decltype(element)>>(value);
}

namespace detail {
/// Calls move(element, offset of its value in memory) for the caller's elements.
template <class F, class Move>
void each_element(F& f, unsigned stride, bool row_major, Move move) {
  for (int i = 0; i < F::num_elements; ++i) {
    const int at = i * 32 + static_cast<int>(kb::cpu::lane_id());
    const unsigned row = at / F::Shape::columns, column = at % F::Shape::columns;
    move(f.x[i], row_major ? row * stride + column : column * stride + row);
  }
}
template <class F, class P>
void load(F& f, const P* from, unsigned stride, bool row_major) {
  each_element(f, stride, row_major, [=](auto& element, unsigned at) {
    element = static_cast<typename F::element_type>(from[at]);
  });
}
}  // namespace detail

// The whole warp has to load, store and multiply together: each call is a rendezvous.
template <class Use, int M, int N, int K, class T, class Layout, class P>
void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const P* from, unsigned stride, KB_AT) {
  __syncwarp(~0u, site);
  detail::load(f, from, stride, std::is_same_v<Layout, row_major>);
}
template <int M, int N, int K, class T, class P>
void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const P* from, unsigned stride,
                      layout_t layout, KB_AT) {
  __syncwarp(~0u, site);
  detail::load(f, from, stride, layout == mem_row_major);
}
template <int M, int N, int K, class T, class P>
void store_matrix_sync(P* to, const fragment<accumulator, M, N, K, T>& f, unsigned stride,
                       layout_t layout, KB_AT) {
  detail::each_element(f, stride, layout == mem_row_major,
                       [=](const auto& element, unsigned at) { to[at] = static_cast<P>(element); });
  __syncwarp(~0u, site);
}

template <int M, int N, int K, class T, class LayoutA, class LayoutB, class C, class D>
void mma_sync(fragment<accumulator, M, N, K, D>& d,
              const fragment<matrix_a, M, N, K, T, LayoutA>& a,
              const fragment<matrix_b, M, N, K, T, LayoutB>& b,
              const fragment<accumulator, M, N, K, C>& c, bool saturate = false, KB_AT) {
  struct Record {
    const fragment<matrix_a, M, N, K, T, LayoutA>* left;
    const fragment<matrix_b, M, N, K, T, LayoutB>* right;
    const fragment<accumulator, M, N, K, C>* addend;
    bool saturate;
    fragment<accumulator, M, N, K, D> sum;
  } record{&a, &b, &c, saturate, {}};
  kb::cpu::warp_rendezvous(
      ~0u,
      [](void* const* data, unsigned present) {
        if (present != ~0u) kb::cpu::trap("mma_sync() by less than a full warp", {"mma.h", 0});
        auto record = [&](int lane) -> Record& { return *static_cast<Record*>(data[lane]); };
        // Integers and doubles keep their precision, everything else accumulates in float.
        using Sum = std::conditional_t<std::is_same_v<D, int>, long long,
                                       std::conditional_t<std::is_same_v<D, double>, D, float>>;
        Sum left[M][K], right[K][N];
        for (int at = 0; at < M * K; ++at)
          left[at / K][at % K] = detail::operand<T, Sum>(record(at % 32).left->x[at / 32]);
        for (int at = 0; at < K * N; ++at)
          right[at / N][at % N] = detail::operand<T, Sum>(record(at % 32).right->x[at / 32]);
        for (int row = 0; row < M; ++row)
          for (int column = 0; column < N; ++column) {
            const int at = row * N + column;
            Sum sum = static_cast<Sum>(record(at % 32).addend->x[at / 32]);
            for (int k = 0; k < K; ++k) sum += left[row][k] * right[k][column];
            record(at % 32).sum.x[at / 32] = detail::rounded<D>(sum, record(0).saturate);
          }
      },
      &record, "mma_sync()", site);
  d = record.sum;
}

inline float __float_to_tf32(float value) {
  // Round to nearest, ties away from zero, as cvt.rna does.
  return kb::cpu::bits<float>((kb::cpu::bits<unsigned>(value) + 0x1000u) & 0xffffe000u);
}

}  // namespace nvcuda::wmma

inline float __float_to_tf32(float value) { return nvcuda::wmma::__float_to_tf32(value); }

KB_DEVICE_CODE_END
