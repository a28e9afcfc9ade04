// Teams: the threads that do something together, and how they share a range of elements.
#pragma once

#include <cstdint>
#include <type_traits>

#include "types.cuh"

namespace kb {

/// The 32 threads of a warp; the block's first dimension is a multiple of 32.
struct Warp {
  __device__ static int64_t rank() { return threadIdx.x % 32; }
  __device__ static int64_t size() { return 32; }
};

/// All threads of a block of one dimension, whole warps.
struct Block {
  __device__ static int64_t rank() { return threadIdx.x; }
  __device__ static int64_t size() { return blockDim.x; }
};

/// All threads of a grid of one dimension.
struct Grid {
  __device__ static int64_t rank() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
  __device__ static int64_t size() { return int64_t{gridDim.x} * blockDim.x; }
};

/// All threads of the blocks that have one blockIdx.x and differ in blockIdx.y.
struct GridColumn {
  __device__ static int64_t rank() { return int64_t{blockIdx.y} * blockDim.x + threadIdx.x; }
  __device__ static int64_t size() { return int64_t{gridDim.y} * blockDim.x; }
};

/// How many elements come before the first at which vectors of N can be loaded from every pointer;
/// n if there is none because the pointers are not aligned to one another.
template <int N, class T, class... Others>
__host__ __device__ int64_t elements_before_vectors(int64_t n, const T* first,
                                                    const Others*... others) {
  const uintptr_t place = reinterpret_cast<uintptr_t>(first) / sizeof(T) % N;
  const bool together =
      (... && (reinterpret_cast<uintptr_t>(others) / sizeof(Others) % N == place));
  const int64_t before = (N - place) % N;
  return together && before < n ? before : n;
}

/// How many groups of elements a thread takes at a time, to have as many loads under way.
template <int count>
using Rounds = std::integral_constant<int, count>;

/// Shares n elements among the threads of a team. This thread calls vectors(Rounds<r>, k, step) for
/// some of the groups of N elements, the r groups k, k + step, ..., and single(i) for some of the
/// elements that are in none. The k-th group begins with element before + k * N.
/// @param before  elements before the first group
/// @tparam rounds  r; 1 for what is left in the end
template <int N, int rounds, class Team, class OnVectors, class OnSingle>
__device__ void share(Team, int64_t n, int64_t before, OnVectors on_vectors, OnSingle single) {
  const int64_t vectors = static_cast<uint64_t>(n - before) / N, singles = n - vectors * N;
  const int64_t step = Team::size();
  int64_t k = Team::rank();
#pragma unroll 1
  for (; k + (rounds - 1) * step < vectors; k += rounds * step) {
    on_vectors(Rounds<rounds>{}, k, step);
  }
#pragma unroll 1
  for (; rounds > 1 && k < vectors; k += step) on_vectors(Rounds<1>{}, k, step);
#pragma unroll 1
  for (int64_t i = Team::rank(); i < singles; i += step) {
    single(i < before ? i : i + vectors * N);
  }
}

/// Loads the k-th group of N elements of p, which is aligned to as many. (The compiler splits a
/// store whose address it cannot derive from one such pointer, so both begin at the first group.)
template <int N, class T>
__device__ Vector<T, N> load_vector(const T* p, int64_t k) {
  return reinterpret_cast<const Vector<T, N>*>(p)[k];
}

template <int N, class T>
__device__ void store_vector(T* p, int64_t k, const Vector<T, N>& v) {
  reinterpret_cast<Vector<T, N>*>(p)[k] = v;
}

}  // namespace kb
