// Cooperative groups, CUB collectives and wmma fragments.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <climits>
#include <cub/cub.cuh>

#include "conformance.h"

namespace cg = cooperative_groups;
using conformance::Buffer;
using conformance::make;

namespace {

__global__ void tile_sums(const int* x, int* out) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  int value = x[block.thread_rank()];
  for (int offset = tile.size() / 2; offset > 0; offset /= 2)
    value += tile.shfl_down(value, offset);
  if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = value;
  block.sync();
  if (block.thread_rank() == 0) out[8] = block.size();
}

KB_FEATURE(groups_tiles) {
  Buffer<int> x(make<int>(64, [](int i) { return i; })), out(9, 0);
  tile_sums<<<1, 64>>>(x, out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(9, [](int i) { return i == 8 ? 64 : 64 * i + 28; }));
}

__global__ void tile_reduce(const float* x, float* out) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const float v = x[threadIdx.x];
  const float sum = cg::reduce(warp, v, cg::plus<float>()),
              high = cg::reduce(warp, v, cg::greater<float>());
  const unsigned odd = warp.ballot(threadIdx.x % 2);
  if (warp.thread_rank() == 3)
    out[warp.meta_group_rank()] = sum + 1000 * high + (odd == 0xaaaaaaaau);
}

KB_FEATURE(groups_reduce) {
  Buffer<float> x(make<float>(64, [](int i) { return i; })), out(2, 0);
  tile_reduce<<<1, 64>>>(x, out);
  KB_LAUNCHED();
  KB_EXPECT((out.read() == std::vector<float>{496 + 31000 + 1, 1520 + 63000 + 1}));
}

__global__ void grid_wide(int* data, int* out) {
  cg::grid_group grid = cg::this_grid();
  const int i = grid.thread_rank(), n = grid.size();
  for (int round = 0; round < 3; ++round) {
    data[i] += round;
    grid.sync();
    const int neighbour = data[(i + 37) % n];
    grid.sync();
    data[i] = neighbour + 1;
  }
  grid.sync();
  out[i] = data[(i + 1) % n];
}

KB_FEATURE(groups_grid_sync) {
  const int blocks = 4, threads = 64, n = blocks * threads;
  Buffer<int> data(make<int>(n, [](int i) { return i; })), out(n, 0);
  int *d = data, *o = out;
  void* arguments[] = {&d, &o};
  KB_CUDA(cudaLaunchCooperativeKernel((void*)grid_wide, dim3(blocks), dim3(threads), arguments, 0,
                                      nullptr));
  KB_LAUNCHED();
  auto host = make<int>(n, [](int i) { return i; });
  for (int round = 0; round < 3; ++round) {
    auto next = host;
    for (int i = 0; i < n; ++i) next[i] = host[(i + 37) % n] + round + 1;
    host = next;
  }
  KB_EXPECT(out.read() == make<int>(n, [&](int i) { return host[(i + 1) % n]; }));
}

__global__ void block_collectives(const float* x, float* sum, int* prefix) {
  using Reduce = cub::BlockReduce<float, 128>;
  using Scan = cub::BlockScan<int, 128>;
  __shared__ union {
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
  } storage;
  const float total = Reduce(storage.reduce).Sum(x[threadIdx.x]);
  if (threadIdx.x == 0) sum[0] = total;
  __syncthreads();
  int before, all;
  Scan(storage.scan).ExclusiveSum(int(threadIdx.x), before, all);
  prefix[threadIdx.x] = before;
  if (threadIdx.x == 0) prefix[128] = all;
}

KB_FEATURE(cub_block_reduce_and_scan) {
  Buffer<float> x(make<float>(128, [](int i) { return i; })), sum(1, 0);
  Buffer<int> prefix(129, 0);
  block_collectives<<<1, 128>>>(x, sum, prefix);
  KB_LAUNCHED();
  KB_EXPECT(sum.read()[0] == 8128);
  KB_EXPECT(prefix.read() == make<int>(129, [](int i) { return i * (i - 1) / 2; }));
}

struct Highest {
  __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

__global__ void warp_collectives(const float* x, float* out) {
  using Reduce = cub::WarpReduce<float>;
  using Scan = cub::WarpScan<int>;
  __shared__ typename Reduce::TempStorage reduce[4];
  __shared__ typename Scan::TempStorage scan[4];
  const int warp = threadIdx.x / 32;
  const float high = Reduce(reduce[warp]).Reduce(x[threadIdx.x], Highest());
  int running;
  Scan(scan[warp]).InclusiveSum(1, running);
  if (threadIdx.x % 32 == 0) out[warp] = high;
  if (threadIdx.x % 32 == 31) out[4 + warp] = running;
}

KB_FEATURE(cub_warp_reduce_and_scan) {
  Buffer<float> x(make<float>(128, [](int i) { return i * 37 % 128; })), out(8, 0);
  warp_collectives<<<1, 128>>>(x, out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<float>(8, [](int i) {
              if (i >= 4) return 32;
              int high = 0;
              for (int k = 32 * i; k < 32 * i + 32; ++k) high = std::max(high, k * 37 % 128);
              return high;
            }));
}

__global__ void tensor_tile(const __half* a, const __half* b, float* c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 1.0f);
  for (int k = 0; k < 32; k += 16) {
    wmma::load_matrix_sync(left, a + k, 32);
    wmma::load_matrix_sync(right, b + k, 32);
    wmma::mma_sync(sum, left, right, sum);
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 2;
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

KB_FEATURE(wmma_half) {
  const auto a = make<float>(16 * 32, [](int i) { return i % 7 - 3; });
  const auto b = make<float>(16 * 32, [](int i) { return i % 5 - 2; });
  std::vector<__half> ha(a.begin(), a.end()), hb(b.begin(), b.end());
  Buffer<__half> da(ha), db(hb);
  Buffer<float> c(256, 0);
  tensor_tile<<<1, 32>>>(da, db, c);
  KB_LAUNCHED();
  KB_EXPECT(c.read() == make<float>(256, [&](int i) {
              float sum = 1;
              for (int k = 0; k < 32; ++k) sum += a[i / 16 * 32 + k] * b[i % 16 * 32 + k];
              return 2 * sum;
            }));
}

__global__ void half_sums(const __half* a, const __half* b, __half* c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, __half> sum;
  wmma::load_matrix_sync(sum, c, 16, wmma::mem_row_major);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

KB_FEATURE(wmma_half_accumulator) {
  const auto a = make<float>(256, [](int i) { return i % 7 - 3; });
  const auto b = make<float>(256, [](int i) { return i % 5 - 2; });
  Buffer<__half> da(std::vector<__half>(a.begin(), a.end())),
      db(std::vector<__half>(b.begin(), b.end()));
  Buffer<__half> c(std::vector<__half>(256, __half(2.0f)));
  half_sums<<<1, 32>>>(da, db, c);
  KB_LAUNCHED();
  const auto sums = c.read();
  for (int i = 0; i < 256; ++i) {
    float expected = 2;
    for (int k = 0; k < 16; ++k) expected += a[i / 16 * 16 + k] * b[i % 16 * 16 + k];
    KB_EXPECT(float(sums[i]) == expected);
  }
}

template <class T, class Sum, int M, int N, int K, class Element>
__global__ void small_product(const Element* a, const Element* b, Sum* c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
  wmma::fill_fragment(sum, Sum(1));
  wmma::load_matrix_sync(left, a, K);
  wmma::load_matrix_sync(right, b, N);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(c, sum, N, wmma::mem_row_major);
}

// Small integers: exact in every format.
template <class T, class Sum, int M, int N, int K, class Element>
void expect_product() {
  const auto a = make<float>(M * K, [](int i) { return i % 7 - 3; });
  const auto b = make<float>(K * N, [](int i) { return i % 5 - 2; });
  Buffer<Element> da(std::vector<Element>(a.begin(), a.end())),
      db(std::vector<Element>(b.begin(), b.end()));
  Buffer<Sum> c(M * N, Sum(0));
  small_product<T, Sum, M, N, K, Element><<<1, 32>>>(da, db, c);
  KB_LAUNCHED();
  KB_EXPECT(c.read() == make<Sum>(M * N, [&](int i) {
              float sum = 1;
              for (int k = 0; k < K; ++k) sum += a[i / N * K + k] * b[k * N + i % N];
              return sum;
            }));
}

KB_FEATURE(wmma_bfloat16) { expect_product<__nv_bfloat16, float, 16, 16, 16, __nv_bfloat16>(); }
KB_FEATURE(wmma_tf32) { expect_product<nvcuda::wmma::precision::tf32, float, 16, 16, 8, float>(); }
KB_FEATURE(wmma_double) { expect_product<double, double, 8, 8, 4, double>(); }
KB_FEATURE(wmma_int8) { expect_product<signed char, int, 32, 8, 16, signed char>(); }

__global__ void saturating_product(int* out) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, signed char, row_major> a;
  fragment<matrix_b, 16, 16, 16, signed char, row_major> b;
  fragment<accumulator, 16, 16, 16, int> c;
  fill_fragment(a, (signed char)100);
  fill_fragment(b, (signed char)100);
  fill_fragment(c, INT_MAX - 5);
  mma_sync(c, a, b, c, true);
  store_matrix_sync(out, c, 16, mem_row_major);
}

KB_FEATURE(wmma_int8_saturates) {
  Buffer<int> out(256, 0);
  saturating_product<<<1, 32>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(256, [](int) { return INT_MAX; }));
}

__global__ void tile_scans(int* out) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int value = threadIdx.x % 5;
  out[threadIdx.x] = cg::inclusive_scan(tile, value, cg::plus<int>());
  out[64 + threadIdx.x] = cg::exclusive_scan(tile, value, cg::plus<int>());
}

KB_FEATURE(groups_scan) {
  Buffer<int> out(128, -1);
  tile_scans<<<1, 64>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(128, [](int i) {
              const int last = i % 64, end = last + (i < 64);
              int sum = 0;
              for (int k = last / 16 * 16; k < end; ++k) sum += k % 5;
              return sum;
            }));
}

template <cub::BlockLoadAlgorithm load, cub::BlockStoreAlgorithm store>
__global__ void scan_items(const int* x, int* y, int valid) {
  using Load = cub::BlockLoad<int, 32, 4, load>;
  using Store = cub::BlockStore<int, 32, 4, store>;
  using Scan = cub::BlockScan<int, 32>;
  __shared__ union {
    typename Load::TempStorage load_storage;
    typename Store::TempStorage store_storage;
    typename Scan::TempStorage scan_storage;
  } storage;
  int items[4];
  Load(storage.load_storage).Load(x, items, valid, 0);
  __syncthreads();
  Scan(storage.scan_storage).InclusiveSum(items, items);
  __syncthreads();
  Store(storage.store_storage).Store(y, items, valid);
}

KB_FEATURE(cub_block_load_scan_store) {
  Buffer<int> x(make<int>(128, [](int i) { return i; })), y(128, -1), z(128, -1);
  scan_items<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT><<<1, 32>>>(x, y, 100);
  scan_items<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE><<<1, 32>>>(x, z, 100);
  KB_LAUNCHED();
  KB_EXPECT(y.read() == make<int>(128, [](int i) { return i < 100 ? i * (i + 1) / 2 : -1; }));
  KB_EXPECT(z.read() == y.read());
}

struct Extreme {
  float value;
  int index;
};
struct Higher {
  __device__ Extreme operator()(Extreme a, Extreme b) { return b.value > a.value ? b : a; }
};
struct Pair {
  int count;
  float2 sum;
};
struct AddPairs {
  __device__ Pair operator()(const Pair& a, const Pair& b) const {
    return {a.count + b.count, {a.sum.x + b.sum.x, a.sum.y + b.sum.y}};
  }
};
struct Larger {
  __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

__global__ void collectives_of_structures(int* out) {
  using Block = cub::BlockReduce<Extreme, 64>;
  using Warp = cub::WarpReduce<Extreme>;
  using Scan = cub::BlockScan<Pair, 64>;
  __shared__ typename Block::TempStorage block;
  __shared__ typename Warp::TempStorage warp[2];
  __shared__ typename Scan::TempStorage scan;
  const int i = threadIdx.x;
  const Extreme mine = {float(i * 37 % 64), i};
  const Extreme in_block = Block(block).Reduce(mine, Higher());
  const Extreme in_warp = Warp(warp[i / 32]).Reduce(mine, Higher());
  Pair pair = {1, {float(i), 2}}, before, all;
  Scan(scan).ExclusiveScan(pair, before, Pair{1000, {0, 0}}, AddPairs(), all);
  if (i == 0) out[0] = in_block.index;
  if (i % 32 == 0) out[1 + i / 32] = in_warp.index;
  out[3 + i] = before.count + int(before.sum.x + before.sum.y);
  if (i == 63) out[67] = all.count;
}

KB_FEATURE(cub_structures) {
  Buffer<int> out(68, -1);
  collectives_of_structures<<<1, 64>>>(out);
  KB_LAUNCHED();
  auto highest = [](int first, int last) {
    int best = first;
    for (int i = first; i < last; ++i)
      if (i * 37 % 64 > best * 37 % 64) best = i;
    return best;
  };
  KB_EXPECT(out.read() == make<int>(68, [&](int k) {
              if (k == 0) return highest(0, 64);
              if (k < 3) return highest(32 * k - 32, 32 * k);
              const int i = k - 3;
              return k == 67 ? 64 : 1000 + i + i * (i - 1) / 2 + 2 * i;
            }));
}

__global__ void scans_of_items(int* out) {
  using Scan = cub::BlockScan<int, 64>;
  __shared__ typename Scan::TempStorage storage;
  int items[2] = {int(threadIdx.x) * 11 % 64, 1}, highest[2], before[2], sums[2], high, sum;
  Scan(storage).InclusiveScan(items, highest, Larger());
  __syncthreads();
  Scan(storage).ExclusiveScan(items, before, 5, Larger(), high);
  __syncthreads();
  Scan(storage).InclusiveSum(items, sums, sum);
  int* mine = out + 8 * threadIdx.x;
  for (int i = 0; i < 2; ++i) mine[i] = highest[i], mine[2 + i] = before[i], mine[4 + i] = sums[i];
  mine[6] = high, mine[7] = sum;
}

KB_FEATURE(cub_scans_of_items) {
  Buffer<int> out(512, -1);
  scans_of_items<<<1, 64>>>(out);
  KB_LAUNCHED();
  std::vector<int> expected(512);
  for (int i = 0, high = 0, before = 5, sum = 0; i < 128; ++i) {
    const int item = i % 2 ? 1 : i / 2 * 11 % 64;
    int* mine = &expected[i / 2 * 8 + i % 2];
    mine[2] = before;
    mine[0] = high = std::max(high, item);
    before = std::max(before, item);
    mine[4] = sum += item;
    expected[i / 2 * 8 + 6] = 63;
    expected[i / 2 * 8 + 7] = 64 + 63 * 32;
  }
  KB_EXPECT(out.read() == expected);
}

// The parameter's type names no parent: it takes tiles of any.
__device__ int place_of(cg::thread_block_tile<4> tile) {
  return tile.meta_group_rank() * 1000 + tile.meta_group_size() * 10 + tile.thread_rank();
}
__global__ void nested_tiles(int* out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<16> half_warp = cg::tiled_partition<16>(block);
  const int rank = half_warp.meta_group_rank() * 100000;
  out[threadIdx.x] = rank + place_of(cg::tiled_partition<4>(cg::tiled_partition<16>(block)));
  out[64 + threadIdx.x] = rank + place_of(cg::tiled_partition<4>(block));
}

KB_FEATURE(groups_nested_tiles) {
  Buffer<int> out(128, -1);
  nested_tiles<<<1, 64>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(128, [](int k) {
              const int i = k % 64, tile = k < 64 ? i % 16 / 4 : i / 4, tiles = k < 64 ? 4 : 16;
              return i / 16 * 100000 + tile * 1000 + tiles * 10 + i % 4;
            }));
}

__global__ void coalesced_sum(int* out) {
  if (threadIdx.x % 2 == 0) return;
  cg::coalesced_group group = cg::coalesced_threads();
  const int sum = cg::reduce(group, int(threadIdx.x), cg::plus<int>());
  if (group.thread_rank() == 0) *out = sum * 100 + group.size();
}

KB_FEATURE(groups_coalesced) {
  Buffer<int> out(1, 0);
  coalesced_sum<<<1, 32>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read()[0] == 25616);
}

}  // namespace
