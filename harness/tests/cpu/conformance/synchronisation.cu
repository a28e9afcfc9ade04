// Barriers, shuffles, votes, reductions and atomics.
#include <algorithm>

#include "conformance.h"

using conformance::Buffer;
using conformance::make;

namespace {

__global__ void tree_sum(const int* x, int* out) {
  __shared__ int partial[256];
  partial[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  for (int stride = 128; stride > 0; stride /= 2) {
    __syncthreads();
    if (int(threadIdx.x) < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

KB_FEATURE(barrier_tree_reduction) {
  Buffer<int> x(make<int>(2048, [](int i) { return i; })), out(8, 0);
  tree_sum<<<8, 256>>>(x, out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(8, [](int i) { return 256 * (256 * i) + 255 * 128; }));
}

__global__ void early_exit(int* out) {
  if (threadIdx.x >= 40) return;  // exited threads are not waited for
  __shared__ int values[40];
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = values[39 - threadIdx.x];
}

KB_FEATURE(barrier_after_exit) {
  Buffer<int> out(40, -1);
  early_exit<<<1, 64>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(40, [](int i) { return 39 - i; }));
}

__global__ void count_votes(int* out) {
  const int count = __syncthreads_count(threadIdx.x % 3 == 0);
  const int all = __syncthreads_and(threadIdx.x < 1000), any = __syncthreads_or(threadIdx.x == 77);
  out[threadIdx.x] = count * 100 + all * 10 + any;
}

KB_FEATURE(barrier_with_predicate) {
  Buffer<int> out(100, 0);
  count_votes<<<1, 100>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(100, [](int) { return 3411; }));
}

// Threads that have exited do not vote: those behind the end, and those that leave in between.
__global__ void votes_without_exited(const int* x, int* out, int n, int stay) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int all = __syncthreads_count(x[i] > 0);
  if (int(threadIdx.x) >= stay) return;
  const int rest = __syncthreads_count(x[i] > 0);
  out[i] = all * 1000 + rest;
}

KB_FEATURE(barrier_votes_after_exit) {
  Buffer<int> x(1000, 1);
  for (const int stay : {128, 100}) {
    Buffer<int> out(1000, -1);
    votes_without_exited<<<8, 128>>>(x, out, 1000, stay);
    KB_LAUNCHED();
    KB_EXPECT(out.read() == make<int>(1000, [=](int i) {
                if (i % 128 >= stay) return -1;
                const int threads = i < 896 ? 128 : 104;
                return threads * 1000 + std::min(threads, stay);
              }));
  }
}

template <class T>
__device__ T warp_sum(T value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1)
    value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}

template <class T>
__global__ void block_sum(const T* x, T* out, int n) {
  __shared__ T partial[32];
  T sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {  // the other warps are already gone
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : T(0);
    sum = warp_sum(sum);
    if (threadIdx.x == 0) *out = sum;
  }
}

KB_FEATURE(shuffle_block_reduction) {
  Buffer<float> x(make<float>(5000, [](int i) { return i % 10; })), f(1, 0);
  Buffer<double> y(make<double>(5000, [](int i) { return 0.5 * (i % 10); })), d(1, 0);
  block_sum<<<1, 512>>>((const float*)(float*)x, (float*)f, 5000);
  block_sum<<<1, 512>>>((const double*)(double*)y, (double*)d, 5000);
  KB_LAUNCHED();
  KB_EXPECT(f.read()[0] == 22500 && d.read()[0] == 11250);
}

__global__ void all_shuffles(int* out) {
  const int lane = threadIdx.x;
  out[lane] = __shfl_sync(~0u, lane * 10, 5);
  out[32 + lane] = __shfl_up_sync(~0u, lane, 3);
  out[64 + lane] = __shfl_down_sync(~0u, lane, 4, 8);
  out[96 + lane] = __shfl_xor_sync(~0u, lane, 9);
  out[128 + lane] = __shfl_sync(~0u, lane, lane + 1, 16);
  out[160 + lane] = int(__shfl_sync(~0u, lane * 0x100000000ll, 31) >> 32);
}

KB_FEATURE(shuffle_variants) {
  Buffer<int> out(192, 0);
  all_shuffles<<<1, 32>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(192, [](int i) {
              const int lane = i % 32;
              switch (i / 32) {
                case 0:
                  return 50;
                case 1:
                  return lane < 3 ? lane : lane - 3;
                case 2:
                  return lane % 8 < 4 ? lane + 4 : lane;
                case 3:
                  return lane ^ 9;
                case 4:
                  return lane / 16 * 16 + (lane + 1) % 16;
                default:
                  return 31;
              }
            }));
}

__global__ void subset_shuffle(int* out) {
  const int lane = threadIdx.x;
  int value = lane;
  if (lane < 8) {
    for (int offset = 4; offset > 0; offset /= 2) value += __shfl_xor_sync(0xff, value, offset);
  } else if (lane >= 24) {
    value = __shfl_sync(0xff000000, value, 30);
  }
  __syncwarp();
  out[lane] = value;
}

KB_FEATURE(shuffle_partial_mask) {
  Buffer<int> out(32, 0);
  subset_shuffle<<<1, 32>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(32, [](int i) { return i < 8 ? 28 : i >= 24 ? 30 : i; }));
}

__global__ void votes(unsigned* out) {
  const unsigned lane = threadIdx.x;
  out[lane] = __ballot_sync(~0u, lane % 4 == 1);
  out[32 + lane] = __all_sync(~0u, lane < 32) * 2 + __any_sync(~0u, lane == 40);
  out[64 + lane] = __match_any_sync(~0u, lane / 5);
  int same = 0;
  const unsigned mask = __match_all_sync(~0u, lane / 32, &same);
  out[96 + lane] = mask == ~0u && same;
  out[128 + lane] = __activemask();
}

KB_FEATURE(votes_and_match) {
  Buffer<unsigned> out(160, 0);
  votes<<<1, 32>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<unsigned>(160, [](int i) {
              const int lane = i % 32;
              switch (i / 32) {
                case 0:
                  return 0x22222222u;
                case 1:
                  return 2u;
                case 2:
                  return lane < 30 ? 0x1fu << lane / 5 * 5 : 0xc0000000u;
                case 3:
                  return 1u;
                default:
                  return ~0u;
              }
            }));
}

__global__ void match_floats(const float* x, unsigned* out) {
  const unsigned lane = threadIdx.x;
  out[lane] = __match_any_sync(~0u, x[lane]);
  out[32 + lane] = __match_any_sync(~0u, double(x[lane]));
  int same = 0;
  out[64 + lane] = __match_all_sync(~0u, x[0], &same);
  out[96 + lane] = __match_all_sync(~0u, x[16 + lane / 2], &same);
}

// By their bits: a NaN matches itself, 0 and -0 differ.
KB_FEATURE(match_floating_point) {
  Buffer<float> x(make<float>(32, [](int i) { return i < 16 ? NAN : i < 24 ? 0.0f : -0.0f; }));
  Buffer<unsigned> out(128, 1);
  match_floats<<<1, 32>>>(x, out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<unsigned>(128, [](int i) {
              const int lane = i % 32;
              if (i >= 64) return i < 96 ? ~0u : 0u;
              return lane < 16 ? 0xffffu : lane < 24 ? 0xff0000u : 0xff000000u;
            }));
}

__global__ void warp_reduces(unsigned* out) {
  const unsigned lane = threadIdx.x;
  const unsigned results[7] = {__reduce_add_sync(~0u, lane),
                               __reduce_max_sync(~0u, lane * 7 % 32),
                               __reduce_min_sync(~0u, lane + 3),
                               __reduce_and_sync(~0u, lane | 0x100),
                               __reduce_or_sync(~0u, 1u << lane),
                               __reduce_xor_sync(~0u, lane == 9 ? 5u : 0u),
                               unsigned(__reduce_min_sync(~0u, -int(lane)))};
  if (lane < 7) out[lane] = results[lane];
}

KB_FEATURE(warp_reduce_intrinsics) {
  Buffer<unsigned> out(7, 0);
  warp_reduces<<<1, 32>>>(out);
  KB_LAUNCHED();
  KB_EXPECT((out.read() == std::vector<unsigned>{496, 31, 3, 0x100, ~0u, 5, unsigned(-31)}));
}

__global__ void warp_exchange_through_shared(int* out) {
  volatile __shared__ int cell[64];
  const int i = threadIdx.x;
  cell[i] = i;
  __syncwarp();
  out[i] = cell[i ^ 1];
}

KB_FEATURE(warp_barrier) {
  Buffer<int> out(64, 0);
  warp_exchange_through_shared<<<1, 64>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(64, [](int i) { return i ^ 1; }));
}

__global__ void integer_atomics(int* i, unsigned* u, unsigned long long* l) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(i, t);
  atomicSub(i + 1, 1);
  atomicMax(i + 2, t);
  atomicMin(i + 3, -t);
  atomicOr(u, 1u << (t % 32));
  atomicAnd(u + 1, ~(1u << (t % 16)));
  atomicXor(u + 2, 1u);
  atomicInc(u + 3, 9);
  atomicDec(u + 4, 9);
  atomicExch(u + 5, 77u);
  atomicCAS(u + 6, 5u, 6u);
  atomicAdd(l, 1ull << 33);
  atomicMax(l + 1, (unsigned long long)t << 34);
}

KB_FEATURE(atomics_integer) {
  Buffer<int> i(4, 0);
  Buffer<unsigned> u({0u, ~0u, 0u, 0u, 0u, 0u, 5u});
  Buffer<unsigned long long> l(2, 0);
  integer_atomics<<<10, 100>>>(i, u, l);
  KB_LAUNCHED();
  KB_EXPECT((i.read() == std::vector<int>{499500, -1000, 999, -999}));
  KB_EXPECT((u.read() == std::vector<unsigned>{~0u, 0xffff0000u, 0, 0, 0, 77, 6}));
  KB_EXPECT((l.read() == std::vector<unsigned long long>{1000ull << 33, 999ull << 34}));
}

__global__ void wide_atomics(unsigned long long* l, unsigned short* s, int* scoped) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicMin(l, ~0ull - t);
  atomicAnd(l + 1, ~(1ull << (t % 64)));
  atomicOr(l + 2, 1ull << (t % 64));
  atomicXor(l + 3, 1ull << 40);
  atomicExch(l + 4, 5ull << 40);
  atomicCAS(l + 5, 7ull << 40, 8ull << 40);
  atomicCAS(s, (unsigned short)3, (unsigned short)4);
  atomicAdd_block(scoped, 1);
  atomicMax_system(scoped + 1, int(t));
}

KB_FEATURE(atomics_wide_narrow_scoped) {
  Buffer<unsigned long long> l({~0ull, ~0ull, 0ull, 0ull, 0ull, 7ull << 40});
  Buffer<unsigned short> s(std::vector<unsigned short>{3, 9});
  Buffer<int> scoped(2, 0);
  wide_atomics<<<1, 129>>>(l, s, scoped);
  KB_LAUNCHED();
  KB_EXPECT((l.read() == std::vector<unsigned long long>{~0ull - 128, 0, ~0ull, 1ull << 40,
                                                         5ull << 40, 8ull << 40}));
  KB_EXPECT((s.read() == std::vector<unsigned short>{4, 9}));
  KB_EXPECT((scoped.read() == std::vector<int>{129, 128}));
}

__device__ float atomic_max_float(float* address, float value) {
  int* word = reinterpret_cast<int*>(address);
  int old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (assumed != old);
  return __int_as_float(old);
}

__global__ void float_atomics(float* f, double* d) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
  atomic_max_float(f + 1, float(t % 777));
  atomicExch(f + 2, 3.0f);
}

KB_FEATURE(atomics_floating_point) {
  Buffer<float> f(3, 0);
  Buffer<double> d(1, 0);
  float_atomics<<<8, 128>>>(f, d);
  KB_LAUNCHED();
  KB_EXPECT((f.read() == std::vector<float>{512, 776, 3}));
  KB_EXPECT(d.read()[0] == 256);
}

__global__ void histogram(const int* x, int* bins, int n) {
  __shared__ int local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[x[i]], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(bins + threadIdx.x, local[threadIdx.x]);
}

KB_FEATURE(atomics_shared_memory) {
  Buffer<int> x(make<int>(10000, [](int i) { return i * 7 % 16; })), bins(16, 0);
  histogram<<<5, 96>>>(x, bins, 10000);
  KB_LAUNCHED();
  KB_EXPECT(bins.read() == make<int>(16, [](int) { return 625; }));
}

__device__ unsigned finished_blocks;
__global__ void last_block_sums(const int* x, volatile int* partial, int* out) {
  __shared__ bool last;
  int sum = x[blockIdx.x * blockDim.x + threadIdx.x];
  sum = __reduce_add_sync(~0u, sum);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(&finished_blocks, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) total += partial[i];
    *out = total;
  }
}

KB_FEATURE(fence_last_block) {
  Buffer<int> x(make<int>(640, [](int i) { return i; })), partial(20, 0), out(1, 0);
  last_block_sums<<<20, 32>>>(x, partial, out);
  KB_LAUNCHED();
  KB_EXPECT(out.read()[0] == 640 * 639 / 2);
}

__global__ void spin_lock(int* lock, int* value) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *reinterpret_cast<volatile int*>(value) = *reinterpret_cast<volatile int*>(value) + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

KB_FEATURE(spin_lock_between_threads) {
  Buffer<int> lock(1, 0), value(1, 0);
  spin_lock<<<4, 64>>>(lock, value);
  KB_LAUNCHED();
  KB_EXPECT(value.read()[0] == 256);
}

// Barriers of the whole grid as programs write them; all blocks fit on a GPU at once.
struct VolatileBarrier {
  static __device__ void wait(unsigned* arrived, unsigned round) {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(arrived, 1u);
      while (*(volatile unsigned*)arrived < gridDim.x * round) {
      }
      __threadfence();
    }
    __syncthreads();
  }
};
struct AtomicBarrier {  // without __syncthreads(): every thread waits for itself
  static __device__ void wait(unsigned* arrived, unsigned round) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x * blockDim.x * round) {
    }
    __threadfence();
  }
};

template <class Barrier>
__global__ void rotate_grid(int* values, unsigned* arrived, int rounds) {
  const unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned round = 0;
  for (int k = 0; k < rounds; ++k) {
    const int next = ((volatile int*)values)[(i + 37) % n];
    Barrier::wait(arrived, ++round);
    ((volatile int*)values)[i] = next + 1;
    Barrier::wait(arrived, ++round);
  }
}

KB_FEATURE(grid_barrier_of_atomics) {
  const int blocks = 6, threads = 64, rounds = 3, n = blocks * threads;
  for (bool atomics : {false, true}) {
#if defined(__SANITIZE_THREAD__)
    if (!atomics) continue;  // for ThreadSanitizer a volatile variable orders nothing
#endif
    Buffer<int> values(make<int>(n, [](int i) { return i; }));
    Buffer<unsigned> arrived(1, 0u);
    if (atomics)
      rotate_grid<AtomicBarrier><<<blocks, threads>>>(values, arrived, rounds);
    else
      rotate_grid<VolatileBarrier><<<blocks, threads>>>(values, arrived, rounds);
    KB_LAUNCHED();
    KB_EXPECT(values.read() == make<int>(n, [&](int i) { return (i + 37 * rounds) % n + rounds; }));
  }
}

__global__ void producer_and_consumers(int* out) {
  __shared__ int ready, value;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == blockDim.x - 32) {  // of the last warp
    value = 42;
    __threadfence_block();
    atomicExch(&ready, 1);
  }
  while (atomicAdd(&ready, 0) == 0) {
  }
  __threadfence_block();
  out[threadIdx.x] = value;
}

KB_FEATURE(spin_within_a_block) {
  Buffer<int> out(128, 0);
  producer_and_consumers<<<1, 128>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(128, [](int) { return 42; }));
}

}  // namespace
