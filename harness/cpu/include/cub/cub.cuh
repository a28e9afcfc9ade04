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
  static auto run(T value, const Operation& operation, bool valid, const char* what,
                  kb::cpu::Site site) {
    return kb::cpu::across_block(value, operation, valid, what, site);
  }
};
template <int width>
struct Warp : Collective {
  using Collective::Collective;
  static constexpr int size = width;
  static unsigned rank() { return kb::cpu::lane_id() % width; }
  template <class T, class Operation>
  static auto run(T value, const Operation& operation, bool valid, const char* what,
                  kb::cpu::Site site) {
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
  void InclusiveSum(T in, T& out, KB_AT) { InclusiveScan(in, out, Sum(), site); }
  void InclusiveSum(T in, T& out, T& total, KB_AT) { InclusiveScan(in, out, Sum(), total, site); }
  void ExclusiveSum(T in, T& out, KB_AT) { out = run(in, Sum(), site).exclusive(); }
  void ExclusiveSum(T in, T& out, T& total, KB_AT) {
    const auto part = run(in, Sum(), site);
    out = part.exclusive(), total = part.total;
  }
  template <class Operation>
  void InclusiveScan(T in, T& out, Operation operation, KB_AT) {
    out = run(in, operation, site).inclusive();
  }
  template <class Operation>
  void InclusiveScan(T in, T& out, Operation operation, T& total, KB_AT) {
    const auto part = run(in, operation, site);
    out = part.inclusive(), total = part.total;
  }
  template <class Operation>
  void ExclusiveScan(T in, T& out, T initial, Operation operation, KB_AT) {
    out = run(in, operation, site).exclusive(initial);
  }
  template <class Operation>
  void ExclusiveScan(T in, T& out, T initial, Operation operation, T& total, KB_AT) {
    const auto part = run(in, operation, site);
    out = part.exclusive(initial), total = part.total;
  }
  template <int N>
  void InclusiveSum(const T (&in)[N], T (&out)[N], KB_AT) {
    const T before = before_items(in, site);
    for (int i = 0; i < N; ++i) out[i] = (i == 0 ? before : out[i - 1]) + in[i];
  }
  template <int N>
  void ExclusiveSum(const T (&in)[N], T (&out)[N], KB_AT) {
    T sum = before_items(in, site);
    for (int i = 0; i < N; ++i) {
      const T item = in[i];  // in and out may be the same array
      out[i] = sum;
      sum = sum + item;
    }
  }

 private:
  template <class Operation>
  static auto run(T in, const Operation& operation, kb::cpu::Site site) {
    return Scope::run(in, operation, true, "cub scan", site);
  }
  template <int N>
  static T before_items(const T (&in)[N], kb::cpu::Site site) {
    T sum = in[0];
    for (int i = 1; i < N; ++i) sum = sum + in[i];
    return run(sum, Sum(), site).exclusive();
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
