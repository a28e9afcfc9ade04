// CUB's block and warp collectives on the CPU. Values are combined in thread order.
#pragma once
#pragma GCC system_header

#include "../cuda_runtime.h"

#if defined(__CUDA__)
#pragma clang force_cuda_host_device begin
#endif

namespace cub {

struct Sum {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
struct Max {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
struct Min {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE
};

namespace detail {

inline unsigned rank() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

/// What every thread contributes to a collective and gets back.
template <class T, class Operation>
struct Record {
  T value;
  T before;  ///< combination of all lower ranks
  T total;
  const Operation* operation;
  unsigned valid;
};

/// Runs over the records in rank order, for a block as well as a warp.
template <class T, class Operation>
void combine(void* const* data, unsigned count) {
  using Item = Record<T, Operation>;
  Item* first = nullptr;
  T total{};
  for (unsigned i = 0; i < count; ++i) {
    auto* item = static_cast<Item*>(data[i]);
    if (!item || i >= item->valid) continue;
    if (first) item->before = total;
    total = first ? (*item->operation)(total, item->value) : item->value;
    if (!first) first = item;
  }
  for (unsigned i = 0; i < count; ++i)
    if (auto* item = static_cast<Item*>(data[i])) item->total = total;
}

template <class T, class Operation>
Record<T, Operation> across_block(T value, const Operation& operation, unsigned valid,
                                  const char* what, kb::cpu::Site site) {
  Record<T, Operation> record{value, value, value, &operation, valid};
  kb::cpu::block_rendezvous(combine<T, Operation>, &record, what, site);
  return record;
}

template <int Width, class T, class Operation>
Record<T, Operation> across_warp(T value, const Operation& operation, unsigned valid,
                                 const char* what, kb::cpu::Site site) {
  Record<T, Operation> record{value, value, value, &operation, valid};
  const unsigned base = kb::cpu::lane_id() & ~(Width - 1u);
  const unsigned mask = Width == 32 ? ~0u : ((1u << (Width % 32)) - 1) << base;
  kb::cpu::warp_rendezvous(
      mask,
      [](void* const* data, unsigned present) {
        const unsigned first = __builtin_ctz(present) & ~(Width - 1u);
        void* members[Width];
        for (int i = 0; i < Width; ++i)
          members[i] = present >> (first + i) & 1 ? data[first + i] : nullptr;
        combine<T, Operation>(members, Width);
      },
      &record, what, site);
  return record;
}

/// The scans of a block or a warp, given a function that makes one Record per call.
template <class T, class Across>
struct Scans {
  template <class Operation>
  static void inclusive(T in, T& out, const Operation& operation, T* total, kb::cpu::Site site) {
    auto record = Across::run(in, operation, site);
    out = Across::rank() == 0 ? in : operation(record.before, in);
    if (total) *total = record.total;
  }
  template <class Operation>
  static void exclusive(T in, T& out, const T* initial, const Operation& operation, T* total,
                        kb::cpu::Site site) {
    auto record = Across::run(in, operation, site);
    const bool first = Across::rank() == 0;
    if (initial)
      out = first ? *initial : operation(*initial, record.before);
    else
      out = first ? T{} : record.before;
    if (total) *total = record.total;
  }
};

template <class T>
struct AcrossBlock {
  static unsigned rank() { return detail::rank(); }
  template <class Operation>
  static auto run(T value, const Operation& operation, kb::cpu::Site site) {
    return across_block(value, operation, ~0u, "cub::BlockScan", site);
  }
};
template <class T, int Width>
struct AcrossWarp {
  static unsigned rank() { return kb::cpu::lane_id() & (Width - 1); }
  template <class Operation>
  static auto run(T value, const Operation& operation, kb::cpu::Site site) {
    return across_warp<Width>(value, operation, Width, "cub::WarpScan", site);
  }
};

template <class T, class Across>
struct ScanInterface {
  struct TempStorage {};
  ScanInterface() = default;
  explicit ScanInterface(TempStorage&) {}
  using S = Scans<T, Across>;

  void InclusiveSum(T in, T& out, KB_AT) { S::inclusive(in, out, Sum(), nullptr, site); }
  void InclusiveSum(T in, T& out, T& total, KB_AT) { S::inclusive(in, out, Sum(), &total, site); }
  void ExclusiveSum(T in, T& out, KB_AT) { S::exclusive(in, out, nullptr, Sum(), nullptr, site); }
  void ExclusiveSum(T in, T& out, T& total, KB_AT) {
    S::exclusive(in, out, nullptr, Sum(), &total, site);
  }
  template <class Operation>
  void InclusiveScan(T in, T& out, Operation operation, KB_AT) {
    S::inclusive(in, out, operation, nullptr, site);
  }
  template <class Operation>
  void InclusiveScan(T in, T& out, Operation operation, T& total, KB_AT) {
    S::inclusive(in, out, operation, &total, site);
  }
  template <class Operation>
  void ExclusiveScan(T in, T& out, T initial, Operation operation, KB_AT) {
    S::exclusive(in, out, &initial, operation, nullptr, site);
  }
  template <class Operation>
  void ExclusiveScan(T in, T& out, T initial, Operation operation, T& total, KB_AT) {
    S::exclusive(in, out, &initial, operation, &total, site);
  }
  template <int N>
  void InclusiveSum(T (&in)[N], T (&out)[N], KB_AT) {
    T sum = in[0];
    for (int i = 1; i < N; ++i) sum = sum + in[i];
    T before;
    S::exclusive(sum, before, nullptr, Sum(), nullptr, site);
    const bool first = Across::rank() == 0;
    for (int i = 0; i < N; ++i)
      out[i] = i == 0 ? (first ? in[0] : before + in[0]) : out[i - 1] + in[i];
  }
  template <int N>
  void ExclusiveSum(T (&in)[N], T (&out)[N], KB_AT) {
    T inclusive[N], previous = T{}, sum = in[0];
    for (int i = 1; i < N; ++i) sum = sum + in[i];
    S::exclusive(sum, previous, nullptr, Sum(), nullptr, site);
    for (int i = 0; i < N; ++i) {
      inclusive[i] = in[i];
      out[i] = previous;
      previous = previous + inclusive[i];
    }
  }
};

}  // namespace detail

template <class T, int X, BlockReduceAlgorithm A = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1,
          int Z = 1>
class BlockReduce {
 public:
  struct TempStorage {};
  BlockReduce() = default;
  explicit BlockReduce(TempStorage&) {}

  T Sum(T value, KB_AT) { return Reduce(value, cub::Sum(), site); }
  T Sum(T value, int valid, KB_AT) { return Reduce(value, cub::Sum(), valid, site); }
  template <class Operation>
  T Reduce(T value, Operation operation, KB_AT) {
    return Reduce(value, operation, X * Y * Z, site);
  }
  template <class Operation>
  T Reduce(T value, Operation operation, int valid, KB_AT) {
    auto record = detail::across_block(value, operation, static_cast<unsigned>(valid),
                                       "cub::BlockReduce", site);
    // As in CUB, only the first thread may rely on the result.
    if (detail::rank() != 0) memset(static_cast<void*>(&record.total), 0xff, sizeof(T));
    return record.total;
  }
  template <int N>
  T Sum(T (&values)[N], KB_AT) {
    return Reduce(values, cub::Sum(), site);
  }
  template <int N, class Operation>
  T Reduce(T (&values)[N], Operation operation, KB_AT) {
    T sum = values[0];
    for (int i = 1; i < N; ++i) sum = operation(sum, values[i]);
    return Reduce(sum, operation, site);
  }
};

template <class T, int Width = 32>
class WarpReduce {
 public:
  struct TempStorage {};
  WarpReduce() = default;
  explicit WarpReduce(TempStorage&) {}

  T Sum(T value, KB_AT) { return Reduce(value, cub::Sum(), site); }
  T Sum(T value, int valid, KB_AT) { return Reduce(value, cub::Sum(), valid, site); }
  template <class Operation>
  T Reduce(T value, Operation operation, KB_AT) {
    return Reduce(value, operation, Width, site);
  }
  template <class Operation>
  T Reduce(T value, Operation operation, int valid, KB_AT) {
    return detail::across_warp<Width>(value, operation, static_cast<unsigned>(valid),
                                      "cub::WarpReduce", site)
        .total;
  }
};

template <class T, int X, BlockScanAlgorithm A = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1>
class BlockScan : public detail::ScanInterface<T, detail::AcrossBlock<T>> {
 public:
  using detail::ScanInterface<T, detail::AcrossBlock<T>>::ScanInterface;
};

template <class T, int Width = 32>
class WarpScan : public detail::ScanInterface<T, detail::AcrossWarp<T, Width>> {
 public:
  using detail::ScanInterface<T, detail::AcrossWarp<T, Width>>::ScanInterface;
};

template <class T, int X, int N, BlockLoadAlgorithm A = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1>
class BlockLoad {
 public:
  struct TempStorage {};
  BlockLoad() = default;
  explicit BlockLoad(TempStorage&) {}
  template <class In>
  void Load(In in, T (&items)[N]) {
    for (int i = 0; i < N; ++i) items[i] = in[index(i)];
  }
  template <class In>
  void Load(In in, T (&items)[N], int valid) {
    for (int i = 0; i < N; ++i)
      if (index(i) < valid) items[i] = in[index(i)];
  }
  template <class In>
  void Load(In in, T (&items)[N], int valid, T otherwise) {
    for (int i = 0; i < N; ++i) items[i] = index(i) < valid ? in[index(i)] : otherwise;
  }

 private:
  static int index(int i) {
    const int rank = static_cast<int>(detail::rank());
    return A == BLOCK_LOAD_STRIPED ? i * X * Y * Z + rank : rank * N + i;
  }
};

template <class T, int X, int N, BlockStoreAlgorithm A = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1>
class BlockStore {
 public:
  struct TempStorage {};
  BlockStore() = default;
  explicit BlockStore(TempStorage&) {}
  template <class Out>
  void Store(Out out, T (&items)[N]) {
    Store(out, items, X * Y * Z * N);
  }
  template <class Out>
  void Store(Out out, T (&items)[N], int valid) {
    for (int i = 0; i < N; ++i) {
      const int rank = static_cast<int>(detail::rank());
      const int at = A == BLOCK_STORE_STRIPED ? i * X * Y * Z + rank : rank * N + i;
      if (at < valid) out[at] = items[i];
    }
  }
};

}  // namespace cub

#if defined(__CUDA__)
#pragma clang force_cuda_host_device end
#endif
