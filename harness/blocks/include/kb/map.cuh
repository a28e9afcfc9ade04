// Elementwise maps: y[i] = f(x[i], ...), with vector loads and stores where the pointers allow it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "team.cuh"
#include "types.cuh"

namespace kb {

/// How many vectors a thread has under way: what a functor of tens of instructions says is
/// `static constexpr int rounds = 2`, others say nothing.
template <class F, class = void>
inline constexpr int rounds_of = 1;
template <class F>
inline constexpr int rounds_of<F, std::void_t<decltype(F::rounds)>> = F::rounds;

/// The part of map() that works on N neighbouring elements.
template <int N, class F, class Y, class... X>
__device__ Vector<Y, N> map_vector(F f, const Vector<X, N>&... x) {
  Vector<Y, N> y;
#pragma unroll
  for (int j = 0; j < N; ++j) y.at[j] = static_cast<Y>(f(element(x, j)...));
  return y;
}

/// map() below, where it is known how many elements come before the first vector.
template <int N, class Team, class F, class Y, class... X>
__device__ void map_from(int64_t before, Team team, int64_t n, F f, Y* y, const X*... x) {
  share<N, rounds_of<F>>(
      team, n, before,
      [=](auto rounds, int64_t k, int64_t step) {
        // All loads come before the first store: y may be x, so the compiler keeps their order.
        Vector<Y, N> results[rounds.value];
#pragma unroll
        for (int i = 0; i < rounds.value; ++i) {
          results[i] = map_vector<N, F, Y, X...>(f, load_vector<N>(x + before, k + i * step)...);
        }
#pragma unroll
        for (int i = 0; i < rounds.value; ++i) store_vector(y + before, k + i * step, results[i]);
      },
      [=](int64_t i) { y[i] = static_cast<Y>(f(element(x, i)...)); });
}

/// y[i] = f(x[i], ...) for all i below n, shared by the threads of a team: Warp, Block or Grid.
/// @param f  takes one value of each x as Compute<X>, returns what Y can be made of
/// @param y  may be one of the x, but may not overlap one otherwise
template <class Team, class F, class Y, class... X>
__device__ void map(Team team, int64_t n, F f, Y* y, const X*... x) {
  constexpr int N = vector_width<Y, X...>;
  map_from<N>(elements_before_vectors<N>(n, y, x...), team, n, f, y, x...);
}

template <int N, class F, class Y, class... X>
__global__ void map_grid(int64_t before, int64_t n, F f, Y* y, const X*... x) {
  map_from<N>(before, Grid{}, n, f, y, x...);
}

/// Launches map() on as many threads as there are vectors, or groups of them that one thread has
/// under way. F is a type with a name, not a lambda: CUDA wants it for what becomes part of a
/// kernel's name.
template <class F, class Y, class... X>
void launch_map(cudaStream_t stream, int64_t n, F f, Y* y, const X*... x) {
  if (n <= 0) return;
  constexpr int N = vector_width<Y, X...>;
  constexpr int64_t threads = 256, most_blocks = 0x7fffffff;
  const int64_t blocks = n / N / (threads * rounds_of<F>)+1,
                before = elements_before_vectors<N>(n, y, x...);
  const auto grid = static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
  map_grid<N><<<grid, threads, 0, stream>>>(before, n, f, y, x...);
}

}  // namespace kb
