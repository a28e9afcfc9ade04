// CUB's block and warp collectives on the CPU.
#pragma once
#pragma GCC system_header

#include "../cuda_runtime.h"
#include "../cudacpu/collective.hpp"

KB_DEVICE_CODE_BEGIN
namespace cub {

using Sum = kb::cpu::Add;
using Max = kb::cpu::Max;
using Min = kb::cpu::Min;

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
#define KB_TRANSFER_ALGORITHM(Name, NAME) \
  enum Name {                             \
    NAME##_DIRECT,                        \
    NAME##_STRIPED,                       \
    NAME##_VECTORIZE,                     \
    NAME##_TRANSPOSE,                     \
    NAME##_WARP_TRANSPOSE                 \
  };
KB_TRANSFER_ALGORITHM(BlockLoadAlgorithm, BLOCK_LOAD)
KB_TRANSFER_ALGORITHM(BlockStoreAlgorithm, BLOCK_STORE)

namespace detail {

/// The constructors that all collectives have. No storage is needed.
struct Collective {
  struct TempStorage {};
  Collective() = default;
  explicit Collective(TempStorage&) {}
};

// The two scopes of a collective: its threads, the caller's rank among them, and the exchange.
template <int threads>
struct Block : Collective {
  using Collective::Collective;
  static constexpr int size = threads;
  static unsigned rank() { return kb::cpu::thread_rank(); }
  template <class T, class Operation>
  static auto run(T value, Operation operation, bool valid, const char* what, kb::cpu::Site site) {
    return kb::cpu::across_block(value, operation, valid, what, site);
  }
};
template <int width>
struct Warp : Collective {
  using Collective::Collective;
  static constexpr int size = width;
  static unsigned rank() { return kb::cpu::lane_id() % width; }
  template <class T, class Operation>
  static auto run(T value, Operation operation, bool valid, const char* what, kb::cpu::Site site) {
    return kb::cpu::across_lanes(kb::cpu::tile_mask(width), value, operation, valid, what, site);
  }
};

template <class T, class Scope>
struct Reduction : Scope {
  using Scope::Scope;
  template <class V>
  T Sum(const V& value, KB_AT) {
    return Reduce(value, cub::Sum(), site);
  }
  T Sum(T value, int valid, KB_AT) { return Reduce(value, cub::Sum(), valid, site); }
  template <class Operation>
  T Reduce(T value, Operation operation, KB_AT) {
    return Reduce(value, operation, Scope::size, site);
  }
  template <class Operation>
  T Reduce(T value, Operation operation, int valid, KB_AT) {
    const int rank = static_cast<int>(Scope::rank());
    T total = Scope::run(value, operation, rank < valid, "cub reduction", site).total;
    // As in CUB, only the first thread may rely on the result.
    if (rank != 0) memset(static_cast<void*>(&total), 0xff, sizeof(T));
    return total;
  }
  template <int N, class Operation>
  T Reduce(const T (&values)[N], Operation operation, KB_AT) {
    T sum = values[0];
    for (int i = 1; i < N; ++i) sum = operation(sum, values[i]);
    return Reduce(sum, operation, site);
  }
};

template <class T, class Scope>
struct Scan : Scope {
  using Scope::Scope;
  // `in` and `out` are one item or an array of them, and may be the same.
  template <class In, class Out>
  void InclusiveSum(const In& in, Out& out, KB_AT) {
    scan<true>(in, out, nullptr, Sum(), site);
  }
  template <class In, class Out>
  void InclusiveSum(const In& in, Out& out, T& total, KB_AT) {
    total = scan<true>(in, out, nullptr, Sum(), site);
  }
  template <class In, class Out>
  void ExclusiveSum(const In& in, Out& out, KB_AT) {
    scan<false>(in, out, nullptr, Sum(), site);
  }
  template <class In, class Out>
  void ExclusiveSum(const In& in, Out& out, T& total, KB_AT) {
    total = scan<false>(in, out, nullptr, Sum(), site);
  }
  template <class In, class Out, class Operation>
  void InclusiveScan(const In& in, Out& out, Operation operation, KB_AT) {
    scan<true>(in, out, nullptr, operation, site);
  }
  template <class In, class Out, class Operation>
  void InclusiveScan(const In& in, Out& out, Operation operation, T& total, KB_AT) {
    total = scan<true>(in, out, nullptr, operation, site);
  }
  template <class In, class Out, class Operation>
  void ExclusiveScan(const In& in, Out& out, T initial, Operation operation, KB_AT) {
    scan<false>(in, out, &initial, operation, site);
  }
  template <class In, class Out, class Operation>
  void ExclusiveScan(const In& in, Out& out, T initial, Operation operation, T& total, KB_AT) {
    total = scan<false>(in, out, &initial, operation, site);
  }

 private:
  template <class Items>
  static auto& item(Items& items, int i) {
    if constexpr (std::is_array_v<Items>)
      return items[i];
    else
      return items;
  }
  /// @return  all items of all threads combined, without `initial`
  template <bool inclusive, class In, class Out, class Operation>
  static T scan(const In& in, Out& out, const T* initial, Operation operation, kb::cpu::Site site) {
    constexpr int count = std::is_array_v<Out> ? std::extent_v<Out> : 1;
    T sum = item(in, 0);
    for (int i = 1; i < count; ++i) sum = operation(sum, item(in, i));
    const auto part = Scope::run(sum, operation, true, "cub scan", site);
    T before = part.first ? T{} : part.before;
    if (initial) before = part.first ? *initial : operation(*initial, before);
    bool empty = part.first && !initial;
    for (int i = 0; i < count; ++i) {
      const T own = item(in, i), with_own = empty ? own : operation(before, own);
      item(out, i) = inclusive ? with_own : before;
      before = with_own;
      empty = false;
    }
    return part.total;
  }
};

/// Where a thread's items lie in the block's tile.
template <int threads, int N, bool striped>
struct Transfer : Collective {
  using Collective::Collective;
  static int index(int i) {
    const int rank = static_cast<int>(kb::cpu::thread_rank());
    return striped ? i * threads + rank : rank * N + i;
  }
};

}  // namespace detail

template <class T, int X, BlockReduceAlgorithm A = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1,
          int Z = 1>
using BlockReduce = detail::Reduction<T, detail::Block<X * Y * Z>>;
template <class T, int width = 32>
using WarpReduce = detail::Reduction<T, detail::Warp<width>>;
template <class T, int X, BlockScanAlgorithm A = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1>
using BlockScan = detail::Scan<T, detail::Block<X * Y * Z>>;
template <class T, int width = 32>
using WarpScan = detail::Scan<T, detail::Warp<width>>;

template <class T, int X, int N, BlockLoadAlgorithm A = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1>
struct BlockLoad : detail::Transfer<X * Y * Z, N, A == BLOCK_LOAD_STRIPED> {
  using BlockLoad::Transfer::Transfer;
  template <class In>
  void Load(In in, T (&items)[N], int valid = X * Y * Z * N) {
    for (int i = 0; i < N; ++i)
      if (this->index(i) < valid) items[i] = in[this->index(i)];
  }
  template <class In>
  void Load(In in, T (&items)[N], int valid, T otherwise) {
    for (T& item : items) item = otherwise;
    Load(in, items, valid);
  }
};
template <class T, int X, int N, BlockStoreAlgorithm A = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1>
struct BlockStore : detail::Transfer<X * Y * Z, N, A == BLOCK_STORE_STRIPED> {
  using BlockStore::Transfer::Transfer;
  template <class Out>
  void Store(Out out, const T (&items)[N], int valid = X * Y * Z * N) {
    for (int i = 0; i < N; ++i)
      if (this->index(i) < valid) out[this->index(i)] = items[i];
  }
};

}  // namespace cub
KB_DEVICE_CODE_END
