// What matrix products on tensor cores are made of: fragments, their products, barriers in shared
// memory. Everything here has a second body in plain CUDA, for devices and compilers without the
// instruction; it computes the same with the same layout of fragments.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#ifdef __NVCC__
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
#define KB_HAS_LDMATRIX 1
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define KB_HAS_MMA 1
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define KB_HAS_MBARRIER 1
#endif
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define KB_HAS_WGMMA 1
#endif
#endif

namespace kb {

// A warp multiplies a 16 x k matrix with a k x 8 matrix, k being 32 bytes of elements: 8 floats or
// 16 halves. With g = lane / 4 and t = lane % 4, and a word being 4 bytes along k,
//   a[0..3]  rows g, g + 8, g, g + 8; words t, t, t + 4, t + 4
//   b[0..1]  column g; words t, t + 4
//   d[0..3]  rows g, g, g + 8, g + 8; columns 2 t, 2 t + 1, 2 t, 2 t + 1

/// The bits of a float that TF32 has: the sign, the exponent and 10 bits of the mantissa.
inline constexpr unsigned tf32_bits = 0xffffe000u;

/// A float as the sum of two TF32 values, up to 2^-23 of it. The first is the nearest, so that the
/// second has either sign: were it cut off, what products of second parts would add, which are left
/// out, would be missing on one side, and the results of a chain of products too small. The second
/// is handed over with all its bits, of which the product ignores the lowest. Of an infinite value
/// or NaN the second is NaN.
__device__ inline void split_tf32(unsigned value, unsigned& high, unsigned& low) {
  high = (value + 0x1000u) & tf32_bits;
  low = __float_as_uint(__uint_as_float(value) - __uint_as_float(high));
}

/// The nearest TF32 value; of two the one farther from zero.
__device__ inline unsigned round_tf32(unsigned value) {
#ifdef KB_HAS_MMA
  unsigned result;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(__uint_as_float(value)));
  return result;
#else
  const bool finite = (value & 0x7f800000u) != 0x7f800000u;
  return finite ? (value + 0x1000u) & tf32_bits : value;
#endif
}

#ifndef KB_HAS_MMA
/// The value of k-th number of a fragment's words: one float of TF32 in each, or two halves.
template <class T>
__device__ float fragment_value(unsigned word, int half) {
  if constexpr (std::is_same_v<T, float>) {
    return __uint_as_float(word & tf32_bits);
  } else if constexpr (std::is_same_v<T, __half>) {
    return __half2float(__ushort_as_half(static_cast<unsigned short>(word >> (16 * half))));
  } else {
    return __bfloat162float(__ushort_as_bfloat16(static_cast<unsigned short>(word >> (16 * half))));
  }
}
#endif

/// d += a * b by one warp; T is the type of the elements, float stands for TF32.
template <class T>
__device__ void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#ifdef KB_HAS_MMA
  if constexpr (std::is_same_v<T, float>) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else if constexpr (std::is_same_v<T, __half>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
#else
  constexpr int each = 4 / sizeof(T), most_warps = 16;
  __shared__ unsigned words[most_warps][6][32];
  const unsigned lane = threadIdx.x % 32;
  auto& warp = words[threadIdx.x / 32];
  __syncwarp();  // an earlier call may still be reading
  for (int i = 0; i < 4; ++i) warp[i][lane] = a[i];
  for (int i = 0; i < 2; ++i) warp[4 + i][lane] = b[i];
  __syncwarp();
  for (int i = 0; i < 4; ++i) {
    const unsigned row = lane / 4, column = lane % 4 * 2 + i % 2;
    for (int word = 0; word < 8; ++word) {
      const unsigned x = warp[i / 2 + word / 4 * 2][row * 4 + word % 4];
      const unsigned y = warp[4 + word / 4][column * 4 + word % 4];
      for (int half = 0; half < each; ++half) {
        d[i] = fmaf(fragment_value<T>(x, half), fragment_value<T>(y, half), d[i]);
      }
    }
  }
#endif
}

/// Loads four matrices of 8 rows of 16 bytes from shared memory: lane 8 i + j hands over the place
/// of row j of matrix i, and gets in r[i] word lane % 4 of row lane / 4.
/// @tparam transposed  elements of 2 bytes: r[i] gets those of rows 2 (lane % 4) and the next,
///     in column lane / 4
template <bool transposed>
__device__ void load_matrices(unsigned (&r)[4], const void* row) {
#ifdef KB_HAS_LDMATRIX
  const auto place = static_cast<unsigned>(__cvta_generic_to_shared(row));
  if constexpr (transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(place));
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(place));
  }
#else
  const unsigned lane = threadIdx.x % 32;
  const auto place = reinterpret_cast<unsigned long long>(row);
  for (int i = 0; i < 4; ++i) {
    if constexpr (transposed) {
      unsigned halves[2];
      for (int j = 0; j < 2; ++j) {
        const auto from = __shfl_sync(~0u, place, 8 * i + lane % 4 * 2 + j);
        halves[j] = reinterpret_cast<const unsigned short*>(from)[lane / 4];
      }
      r[i] = halves[0] | halves[1] << 16;
    } else {
      const auto from = __shfl_sync(~0u, place, 8 * i + lane / 4);
      r[i] = reinterpret_cast<const unsigned*>(from)[lane % 4];
    }
  }
#endif
}

// Four warps, a warpgroup, multiply a matrix of 64 rows with one of 128 or 256 columns in shared
// memory. Of floats the left one is in registers, 16 rows in each warp's fragments; of halves it is
// in shared memory, too.
//
// A tile in shared memory starts at a multiple of 1024 bytes and has rows of 128 bytes. The groups
// of 16 bytes of a row are permuted, so that no two of 8 rows meet in a bank.

/// Where element `at` of a row is, counted in elements from the start of the tile.
template <class T>
__device__ int swizzled(int row, int at) {
  constexpr int group = 16 / sizeof(T);
  return row * 8 * group + ((at / group ^ row % 8) * group | at % group);
}

/// Where an element of an operand of halves is in a tile of 64 k. A row is 64 k of one line; or, if
/// neighbours in memory follow lines, 64 lines of one k, and the next 64 lines come after all k.
template <class T, bool along_k>
__device__ int swizzled_half(int line, int k) {
  return along_k ? swizzled<T>(line, k) : swizzled<T>(line / 64 * 64 + k, line % 64);
}

/// Comes before the first of several wgmma() and after writes to their registers.
__device__ inline void wgmma_begin() {
#ifdef KB_HAS_WGMMA
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

/// Makes the wgmma() since the last call a group.
__device__ inline void wgmma_end() {
#ifdef KB_HAS_WGMMA
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

/// Waits until at most `pending` groups of this warpgroup are under way. Their sums may be read
/// only when none is.
template <int pending = 0, int count>
__device__ void wgmma_wait(float (&d)[count]) {
#ifdef KB_HAS_WGMMA
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
  if constexpr (pending == 0) {
#pragma unroll
    for (float& value : d) asm volatile("" : "+f"(value)::"memory");
  }
#else
  (void)d;
#endif
}

#ifdef KB_HAS_WGMMA
/// What tells wgmma where an operand in shared memory is: start and strides in units of 16 bytes,
/// rows of 128 bytes that are permuted. From 8 rows to the next 8 it is 1024 bytes; `leading`
/// counts the bytes to the next 64 lines where rows are lines of one k, and is 16 otherwise.
__device__ inline uint64_t wgmma_operand(const void* start, unsigned leading) {
  const auto place = static_cast<unsigned>(__cvta_generic_to_shared(start));
  return uint64_t{(place & 0x3ffff) >> 4} | uint64_t{leading >> 4} << 16 |
         uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}

#define KB_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define KB_D16(i) KB_D4(i), KB_D4(i + 4), KB_D4(i + 8), KB_D4(i + 12)
#define KB_D64(i) KB_D16(i), KB_D16(i + 16), KB_D16(i + 32), KB_D16(i + 48)
#define KB_0_TO_63                                           \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"   \
  "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29," \
  "%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43," \
  "%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57," \
  "%58,%59,%60,%61,%62,%63"
#define KB_64_TO_127                                             \
  "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,"     \
  "%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,"     \
  "%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,"    \
  "%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116," \
  "%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#endif

/// d = a * b, or d += a * b, by a warpgroup in TF32. Returns before it is done. What
/// d[4 j ... 4 j + 3] is to the 8 columns from 8 j on, is d[0..3] to mma().
/// @param a  each warp's fragment: 16 rows, 8 floats of k
/// @param b  128 columns of 32 floats of k, swizzled
/// @param k  the first of 8: 0, 8, 16 or 24
__device__ inline void wgmma(float (&d)[64], const unsigned (&a)[4], const float* b, int k,
                             bool accumulate) {
#ifdef KB_HAS_WGMMA
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {" KB_0_TO_63
      "}, {%64,%65,%66,%67}, %68, p, 1, 1;\n}\n"
      : KB_D64(0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(wgmma_operand(b + k, 16)),
        "r"(int{accumulate}));
#else
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    float sum[4];
    for (int i = 0; i < 4; ++i) sum[i] = accumulate ? d[4 * j + i] : 0;
    unsigned column[2];
    for (int i = 0; i < 2; ++i) {
      column[i] = __float_as_uint(b[swizzled<float>(8 * j + g, k + t + 4 * i)]);
    }
    mma<float>(sum, a, column);
    for (int i = 0; i < 4; ++i) d[4 * j + i] = sum[i];
  }
#endif
}

/// The same of halves, with 256 columns: d[4 j ...] for j below 32.
/// @param a, b  64 rows and 256 columns of 64 k, as swizzled_half() says
/// @param k  the first of 16: 0, 16, 32 or 48
template <class T, bool a_along_k, bool b_along_k>
__device__ void wgmma(float (&d)[128], const T* a, const T* b, int k, bool accumulate) {
#ifdef KB_HAS_WGMMA
  constexpr unsigned next_lines = 64 * 128;
  const uint64_t left = wgmma_operand(a_along_k ? a + k : a + k * 64, a_along_k ? 16 : next_lines);
  const uint64_t right = wgmma_operand(b_along_k ? b + k : b + k * 64, b_along_k ? 16 : next_lines);
#define KB_WGMMA(type)                                                             \
  asm volatile(                                                                    \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"                                \
      "wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type " {" KB_0_TO_63 \
      "," KB_64_TO_127 "}, %128, %129, p, 1, 1, %131, %132;\n}\n"                  \
      : KB_D64(0), KB_D64(64)                                                      \
      : "l"(left), "l"(right), "r"(int{accumulate}), "n"(a_along_k ? 0 : 1),       \
        "n"(b_along_k ? 0 : 1))
  if constexpr (std::is_same_v<T, __half>) {
    KB_WGMMA("f16");
  } else {
    KB_WGMMA("bf16");
  }
#undef KB_WGMMA
#else
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, row = threadIdx.x / 32 % 4 * 16 + g;
  const auto pair = [](T first, T second) {
    if constexpr (std::is_same_v<T, __half>) {
      return __half_as_ushort(first) | unsigned{__half_as_ushort(second)} << 16;
    } else {
      return __bfloat16_as_ushort(first) | unsigned{__bfloat16_as_ushort(second)} << 16;
    }
  };
  unsigned left[4], right[2];
  for (int i = 0; i < 4; ++i) {
    const int line = row + i % 2 * 8, at = k + 2 * t + i / 2 * 8;
    left[i] = pair(a[swizzled_half<T, a_along_k>(line, at)],
                   a[swizzled_half<T, a_along_k>(line, at + 1)]);
  }
#pragma unroll
  for (int j = 0; j < 32; ++j) {
    float sum[4];
    for (int i = 0; i < 4; ++i) sum[i] = accumulate ? d[4 * j + i] : 0;
    for (int i = 0; i < 2; ++i) {
      const int line = 8 * j + g, at = k + 2 * t + i * 8;
      right[i] = pair(b[swizzled_half<T, b_along_k>(line, at)],
                      b[swizzled_half<T, b_along_k>(line, at + 1)]);
    }
    mma<T>(sum, left, right);
    for (int i = 0; i < 4; ++i) d[4 * j + i] = sum[i];
  }
#endif
}

#ifdef KB_HAS_WGMMA
#undef KB_D4
#undef KB_D16
#undef KB_D64
#undef KB_0_TO_63
#undef KB_64_TO_127
#endif

/// Makes this thread's writes to shared memory, also finished asynchronous copies, visible to
/// wgmma() of threads that it synchronises with afterwards.
__device__ inline void publish_to_wgmma() {
#ifdef KB_HAS_WGMMA
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// Hands registers of this warpgroup to others of its block, or takes some over. The counts of all
/// threads together may not grow.
/// @tparam count  what each thread has then, a multiple of 8 from 24 to 256; 0: all keep theirs
template <int count>
__device__ void give_registers() {
#ifdef KB_HAS_WGMMA
  if constexpr (count != 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
  }
#endif
}
template <int count>
__device__ void take_registers() {
#ifdef KB_HAS_WGMMA
  if constexpr (count != 0) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
  }
#endif
}

/// A barrier in shared memory at which some threads arrive and others wait, round after round.
struct Barrier {
  unsigned long long state;

  /// One thread calls this, before a __syncthreads().
  __device__ void init(int arrivals) {
#ifdef KB_HAS_MBARRIER
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(place()), "r"(arrivals) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#else
    (void)arrivals;
    state = 0;
#endif
  }

  __device__ void arrive() {
#ifdef KB_HAS_MBARRIER
    asm volatile("{\n.reg .b64 s;\nmbarrier.arrive.shared.b64 s, [%0];\n}\n" ::"r"(place())
                 : "memory");
#else
    __threadfence_block();
    atomicAdd(&state, 1ull);
#endif
  }

  /// Waits until all have arrived in this round, counted from 0. A thread that waits for a round
  /// knows that the one before is over. All lanes of a warp call this together.
  __device__ void wait(int64_t round, int arrivals) {
#ifdef KB_HAS_MBARRIER
    (void)arrivals;
    asm volatile(
        "{\n.reg .pred p;\nagain:\n"
        "mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
        "@p bra done;\nbra again;\ndone:\n}\n" ::"r"(place()),
        "r"(static_cast<unsigned>(round & 1))
        : "memory");
#else
    const auto enough = static_cast<unsigned long long>(round + 1) * arrivals;
    if (threadIdx.x % 32 == 0) {
      while (atomicAdd(&state, 0ull) < enough) __nanosleep(100);
      __threadfence_block();
    }
    __syncwarp();
#endif
  }

#ifdef KB_HAS_MBARRIER
  __device__ unsigned place() { return static_cast<unsigned>(__cvta_generic_to_shared(this)); }
#endif
};

}  // namespace kb
