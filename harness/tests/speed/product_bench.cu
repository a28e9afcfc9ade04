// How fast and how exact the matrix products of <kb/product.cuh> are, next to cuBLAS in the same
// run. Every variant runs in a process of its own, so that one that fails or hangs leaves the
// others alone.
//   nvcc -std=c++17 -O3 -gencode arch=compute_90a,code=sm_90a -I harness/blocks/include
//     harness/tests/speed/product_bench.cu -lcublas -o product_bench
//   ./product_bench [<variant>...]      all variants, or those whose name contains one of the words
// Exit code 1 if a result is wrong or a variant fails.
#include <cublas_v2.h>
#include <sys/wait.h>
#include <unistd.h>
#include <kb/product.cuh>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using kb::Arithmetic;
using kb::ProductShape;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("    FAILED: %s: %s\n", what, cudaGetErrorString(error));
  std::fflush(stdout);
  std::_Exit(1);
}
void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::printf("    FAILED: %s: cuBLAS status %d\n", what, static_cast<int>(status));
  std::fflush(stdout);
  std::_Exit(1);
}

__device__ unsigned mixed(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return static_cast<unsigned>(x >> 32);
}

/// Normal numbers, or integers from -8 to 8.
template <class T>
__global__ void fill(T* x, int64_t n, uint64_t seed, bool integers) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    const uint64_t at = (seed << 40) + 2 * i + 1;
    const float u = (mixed(at * 0x9e3779b97f4a7c15ull) + 1.f) / 4294967808.f;
    const float v = mixed((at + 1) * 0x9e3779b97f4a7c15ull) / 4294967296.f;
    x[i] = static_cast<T>(integers ? floorf(v * 17) - 8 : sqrtf(-2 * logf(u)) * cospif(2 * v));
  }
}

/// Both operands as (batch, line, k) by strides, so that one check serves all layouts.
template <class T>
struct Strided {
  const T* data;
  int64_t line, k;
  __device__ double at(int64_t i, int64_t depth) const {
    return static_cast<float>(data[i * line + depth * k]);
  }
};

/// One block per sample: in sums[0..1] the squared errors of two results, in sums[2] the squares.
template <class T>
__global__ void compare_samples(Strided<T> a, Strided<T> b, const float* c, const float* library,
                                ProductShape s, double* sums) {
  __shared__ double parts[256];
  const uint64_t pick = blockIdx.x * 0x9e3779b97f4a7c15ull + 12345;
  const int64_t row = mixed(pick) % s.rows, column = mixed(pick * 3 + 1) % s.columns;
  double sum = 0;
  for (int64_t k = threadIdx.x; k < s.depth; k += 256) sum += a.at(row, k) * b.at(column, k);
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) parts[threadIdx.x] += parts[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    const double one = c[row * s.columns + column] - parts[0];
    const double other = library[row * s.columns + column] - parts[0];
    atomicAdd(&sums[0], one * one);
    atomicAdd(&sums[1], other * other);
    atomicAdd(&sums[2], parts[0] * parts[0]);
  }
}

/// Counts elements that differ by more than the bound, or are NaN.
__global__ void count_wrong(const float* c, const float* expected, int64_t n, float bound,
                            unsigned long long* wrong) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    if (!(fabsf(c[i] - expected[i]) <= bound)) atomicAdd(wrong, 1ull);
  }
}

template <class T>
__global__ void exact_product(Strided<T> a, Strided<T> b, float* c, ProductShape s) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= s.rows * s.columns) return;
  double sum = 0;
  for (int64_t k = 0; k < s.depth; ++k) sum += a.at(i / s.columns, k) * b.at(i % s.columns, k);
  c[i] = static_cast<float>(sum);
}

template <class T>
struct Memory {
  T* data = nullptr;
  explicit Memory(int64_t n) {
    check(cudaMalloc(&data, std::max<int64_t>(n, 1) * sizeof(T)), "cudaMalloc");
  }
  ~Memory() { cudaFree(data); }
  Memory(const Memory&) = delete;
};

/// In place of a kind of tiles: those that launch_product() chooses.
struct Chosen {};

template <class Tile, Arithmetic arithmetic, class T, bool left_along_k, bool right_along_k>
struct Variant {
  using Left = kb::Matrix<T, left_along_k>;
  using Right = kb::Matrix<T, right_along_k>;
  static constexpr bool exact = sizeof(T) == 2 || arithmetic != Arithmetic::tf32;

  static void launch(const ProductShape& s, const T* a, const T* b, float* c, int64_t parts) {
    const Left l{a, s.rows, s.depth, left_along_k ? s.depth : s.rows, s.rows * s.depth};
    const Right r{b, s.columns, s.depth, right_along_k ? s.depth : s.columns, s.columns * s.depth};
    if constexpr (std::is_same_v<Tile, Chosen>) {
      kb::launch_product<arithmetic>(nullptr, s, l, r, kb::store(c, s));
    } else {
      kb::launch_product<Tile, arithmetic>(nullptr, s, l, r, kb::store(c, s), parts);
    }
    check(cudaGetLastError(), "launch");
  }
  static Strided<T> left_strides(const ProductShape& s, const T* a) {
    return left_along_k ? Strided<T>{a, s.depth, 1} : Strided<T>{a, 1, s.rows};
  }
  static Strided<T> right_strides(const ProductShape& s, const T* b) {
    return right_along_k ? Strided<T>{b, s.depth, 1} : Strided<T>{b, 1, s.columns};
  }

  /// Integers, of which every arithmetic knows the exact product; sizes and places that are
  /// multiples of nothing.
  static bool right_for_any_size() {
    bool right = true;
    const ProductShape shapes[] = {{1, 1, 1},         {3, 17, 5},      {64, 64, 64},
                                   {130, 65, 129},    {257, 300, 999}, {128, 128, 4096},
                                   {5, 7, 0},         {1, 1000, 777},  {515, 1, 4100},
                                   {1000, 1000, 500}, {384, 640, 96}};
    for (const ProductShape& s : shapes) {
      for (const int64_t offset : {0, 1}) {
        for (const int64_t parts : {0, 1, 3}) {
          if (std::is_same_v<Tile, Chosen> && parts > 0) continue;
          const int64_t size = s.rows * s.columns;
          Memory<T> a(s.rows * s.depth + 1), b(s.depth * s.columns + 1);
          Memory<float> c(size + 1), expected(size);
          Memory<unsigned long long> wrong(1);
          fill<<<256, 256>>>(a.data, s.rows * s.depth + 1, 1, true);
          fill<<<256, 256>>>(b.data, s.depth * s.columns + 1, 2, true);
          cudaMemset(c.data, 0xff, (size + 1) * 4);
          cudaMemset(wrong.data, 0, 8);
          const T *l = a.data + offset, *r = b.data + offset;
          exact_product<<<static_cast<unsigned>(size / 256 + 1), 256>>>(
              left_strides(s, l), right_strides(s, r), expected.data, s);
          launch(s, l, r, c.data, parts);
          count_wrong<<<256, 256>>>(c.data, expected.data, size, 0, wrong.data);
          unsigned long long count = 0;
          check(cudaMemcpy(&count, wrong.data, 8, cudaMemcpyDeviceToHost), "small product");
          if (count > 0) {
            std::printf("    WRONG: %lld x %lld x %lld, offset %d, parts %d: %llu of %lld\n",
                        static_cast<long long>(s.rows), static_cast<long long>(s.depth),
                        static_cast<long long>(s.columns), static_cast<int>(offset),
                        static_cast<int>(parts), count, static_cast<long long>(size));
            right = false;
          }
        }
      }
    }
    return right;
  }

  static bool measure(cublasHandle_t cublas, const ProductShape& s) {
    const int64_t a_size = s.rows * s.depth * s.batches, b_size = s.depth * s.columns * s.batches;
    const int64_t c_size = s.rows * s.columns * s.batches;
    const int64_t bytes = (a_size + b_size) * sizeof(T) + c_size * 4;
    const int64_t sets = std::clamp<int64_t>((400 << 20) / bytes + 1, 2, 24);
    Memory<T> a(a_size * sets), b(b_size * sets);
    Memory<float> c(c_size * sets), library(c_size);
    fill<<<2048, 256>>>(a.data, a_size * sets, 3, false);
    fill<<<2048, 256>>>(b.data, b_size * sets, 4, false);
    const auto by_library = [&](const T* left, const T* right, float* to) {
      const float one = 1, zero = 0;
      const auto type = std::is_same_v<T, float>    ? CUDA_R_32F
                        : std::is_same_v<T, __half> ? CUDA_R_16F
                                                    : CUDA_R_16BF;
      const auto compute = sizeof(T) == 2 ? CUBLAS_COMPUTE_32F
                           : exact        ? CUBLAS_COMPUTE_32F_PEDANTIC
                                          : CUBLAS_COMPUTE_32F_FAST_TF32;
      const auto m = static_cast<int>(s.rows), n = static_cast<int>(s.columns),
                 k = static_cast<int>(s.depth);
      // cuBLAS counts by columns, so it is told the transposed product.
      check(cublasGemmStridedBatchedEx(cublas, right_along_k ? CUBLAS_OP_T : CUBLAS_OP_N,
                                       left_along_k ? CUBLAS_OP_N : CUBLAS_OP_T, n, m, k, &one,
                                       right, type, right_along_k ? k : n, s.columns * s.depth,
                                       left, type, left_along_k ? k : m, s.rows * s.depth, &zero,
                                       to, CUDA_R_32F, n, s.rows * s.columns,
                                       static_cast<int>(s.batches), compute, CUBLAS_GEMM_DEFAULT),
            "cublasGemmStridedBatchedEx");
    };
    const double flops = 2. * s.rows * s.columns * s.depth * s.batches;
    const int runs = flops > 5e11 ? 5 : flops > 1e11 ? 9 : 21;
    std::vector<cudaEvent_t> events(4 * runs);
    for (auto& event : events) check(cudaEventCreate(&event), "cudaEventCreate");
    cudaMemset(c.data, 0xff, c_size * sets * 4);
    by_library(a.data, b.data, library.data);
    for (int i = 0; i < 2; ++i) launch(s, a.data, b.data, c.data, 0);
    check(cudaDeviceSynchronize(), "product");
    for (int run = 0; run < runs; ++run) {
      // The two of a run take different buffers, and none that was used just before.
      const int64_t one = 2 * run % sets, other = (2 * run + 1) % sets;
      cudaEventRecord(events[4 * run]);
      by_library(a.data + one * a_size, b.data + one * b_size, c.data + one * c_size);
      cudaEventRecord(events[4 * run + 1]);
      cudaEventRecord(events[4 * run + 2]);
      launch(s, a.data + other * a_size, b.data + other * b_size, c.data + other * c_size, 0);
      cudaEventRecord(events[4 * run + 3]);
    }
    check(cudaDeviceSynchronize(), "products");
    std::vector<float> ours(runs), theirs(runs);
    for (int run = 0; run < runs; ++run) {
      cudaEventElapsedTime(&theirs[run], events[4 * run], events[4 * run + 1]);
      cudaEventElapsedTime(&ours[run], events[4 * run + 2], events[4 * run + 3]);
    }
    for (auto& event : events) cudaEventDestroy(event);
    std::sort(ours.begin(), ours.end());
    std::sort(theirs.begin(), theirs.end());
    const double ms = ours[runs / 2], library_ms = theirs[runs / 2];

    cudaMemset(c.data, 0xff, c_size * 4);
    launch(s, a.data, b.data, c.data, 0);
    Memory<double> sums(3);
    Memory<unsigned long long> wrong(1);
    cudaMemset(sums.data, 0, 24);
    cudaMemset(wrong.data, 0, 8);
    compare_samples<<<512, 256>>>(left_strides(s, a.data), right_strides(s, b.data), c.data,
                                  library.data, s, sums.data);
    const float bound = (exact ? 1e-4f : 2e-2f) * std::sqrt(static_cast<float>(s.depth));
    count_wrong<<<2048, 256>>>(c.data, library.data, c_size, bound, wrong.data);
    double errors[3];
    unsigned long long count = 0;
    check(cudaMemcpy(errors, sums.data, 24, cudaMemcpyDeviceToHost), "errors");
    check(cudaMemcpy(&count, wrong.data, 8, cudaMemcpyDeviceToHost), "wrong elements");
    std::printf(
        "    %4lld of %7lld x %6lld x %5lld  %9.4f ms %7.1f TFLOP/s  cuBLAS %9.4f ms %7.1f  ratio "
        "%5.2f  error %.1e  cuBLAS %.1e%s\n",
        static_cast<long long>(s.batches), static_cast<long long>(s.rows),
        static_cast<long long>(s.depth), static_cast<long long>(s.columns), ms, flops / ms * 1e-9,
        library_ms, flops / library_ms * 1e-9, library_ms / ms, std::sqrt(errors[0] / errors[2]),
        std::sqrt(errors[1] / errors[2]), count ? "  WRONG" : "");
    std::fflush(stdout);
    if (count > 0) std::printf("    WRONG: %llu elements\n", count);
    return count == 0;
  }

  template <const auto& shapes>
  static bool run() {
    bool right = right_for_any_size();
    cublasHandle_t cublas;
    check(cublasCreate(&cublas), "cublasCreate");
    for (const ProductShape& s : shapes) right &= measure(cublas, s);
    return right;
  }
};

constexpr ProductShape square[] = {{4096, 4096, 4096}};
// As of the tasks with a transposed operand.
constexpr ProductShape some[] = {{4096, 4096, 4096}, {2048, 4096, 8192}, {8205, 5921, 2949}};
// Level 1, 001 to 011 and 097.
constexpr ProductShape tasks[] = {{4096, 4096, 4096},   {2048, 4096, 8192},  {512, 2048, 1024, 128},
                                  {256, 256, 524288},   {32768, 32768, 64},  {8205, 5921, 2949},
                                  {32768, 32768, 32},   {16384, 768, 2048},  {1048576, 768, 256},
                                  {512, 512, 1024, 32}, {512, 1024, 512, 32}};
constexpr ProductShape smaller[] = {{2048, 2048, 2048}, {1024, 1024, 1024}, {512, 512, 512},
                                    {256, 256, 256},    {128, 1024, 1024},  {128, 8192, 8192},
                                    {64, 4096, 4096},   {16, 1024, 1024}};

struct Named {
  const char* name;
  bool (*run)();
};

using kb::HalfWarpgroupTiles;
using kb::WarpgroupTiles;
using kb::WarpTiles;
constexpr Arithmetic tf32x3 = Arithmetic::tf32x3, tf32 = Arithmetic::tf32,
                     plain = Arithmetic::plain;

// The most promising first: the last ones are left out when the time is up.
const Named variants[] = {
    {"float_chosen_tasks", Variant<Chosen, tf32x3, float, 1, 0>::run<tasks>},
    {"float_chosen_right_transposed", Variant<Chosen, tf32x3, float, 1, 1>::run<some>},
    {"float_chosen_left_transposed", Variant<Chosen, tf32x3, float, 0, 0>::run<some>},
    {"float_chosen_both_transposed", Variant<Chosen, tf32x3, float, 0, 1>::run<some>},
    {"float_chosen_smaller", Variant<Chosen, tf32x3, float, 1, 0>::run<smaller>},
    {"half_chosen_tasks", Variant<Chosen, tf32, __half, 1, 0>::run<tasks>},
    {"half_chosen_right_transposed", Variant<Chosen, tf32, __half, 1, 1>::run<some>},
    {"half_chosen_left_transposed", Variant<Chosen, tf32, __half, 0, 0>::run<some>},
    {"half_chosen_both_transposed", Variant<Chosen, tf32, __half, 0, 1>::run<some>},
    {"half_chosen_smaller", Variant<Chosen, tf32, __half, 1, 0>::run<smaller>},
    {"bfloat16_chosen", Variant<Chosen, tf32, __nv_bfloat16, 1, 0>::run<some>},
    {"float_chosen_one_tf32", Variant<Chosen, tf32, float, 1, 0>::run<some>},
    {"float_warpgroups_copied_by_one",
     Variant<WarpgroupTiles<4, 128>, tf32x3, float, 1, 0>::run<some>},
    {"float_warpgroups_copied_by_one_left_transposed",
     Variant<WarpgroupTiles<4, 128>, tf32x3, float, 0, 0>::run<some>},
    {"float_warpgroups_one_tf32_copied_by_one",
     Variant<WarpgroupTiles<4, 128>, tf32, float, 1, 0>::run<square>},
    {"float_warpgroups_3_stages", Variant<WarpgroupTiles<3>, tf32x3, float, 1, 0>::run<square>},
    {"float_warpgroups_smaller", Variant<WarpgroupTiles<4>, tf32x3, float, 1, 0>::run<smaller>},
    {"float_warps_64x64x32_of_32x32_twice",
     Variant<WarpTiles<64, 64, 32, 32, 32, 4, 2>, tf32x3, float, 1, 0>::run<smaller>},
    {"float_warps_128x64x32_of_64x32_twice",
     Variant<WarpTiles<128, 64, 64, 32, 32, 3, 2>, tf32x3, float, 1, 0>::run<some>},
    {"half_warpgroups_3_stages", Variant<HalfWarpgroupTiles<3>, tf32, __half, 1, 0>::run<square>},
    {"half_warpgroups_smaller", Variant<HalfWarpgroupTiles<4>, tf32, __half, 1, 0>::run<smaller>},
    {"half_warps_64x64x64_of_32x32_twice",
     Variant<WarpTiles<64, 64, 32, 32, 64, 4, 2>, tf32, __half, 1, 0>::run<smaller>},
    {"half_warps_128x128x32_of_64x32",
     Variant<WarpTiles<128, 128, 64, 32, 32, 3>, tf32, __half, 1, 0>::run<square>},
    {"float_plain_128x128x16_of_64x32",
     Variant<WarpTiles<128, 128, 64, 32, 16, 2>, plain, float, 1, 0>::run<square>},
};

}  // namespace

int main(int count, char** values) {
  constexpr double limit_s = 90;
  constexpr unsigned variant_limit_s = 20;
  bool right = true;
  const auto start = std::chrono::steady_clock::now();
  for (const Named& variant : variants) {
    bool wanted = count == 1;
    for (int i = 1; i < count; ++i) wanted |= std::strstr(variant.name, values[i]) != nullptr;
    if (!wanted) continue;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (count == 1 && spent.count() > limit_s - 3) {
      std::printf("%s: left out, the time is up\n", variant.name);
      continue;
    }
    std::printf("%s (from %.1f s on)\n", variant.name, spent.count());
    std::fflush(stdout);
    // Before CUDA is used in this process, a copy of it may use it.
    const pid_t child = fork();
    if (child == 0) {
      alarm(variant_limit_s);
      const bool good = variant.run();
      std::fflush(stdout);
      std::_Exit(good ? 0 : 1);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) < 0) return 2;
    if (WIFSIGNALED(status)) std::printf("    FAILED: ended by signal %d\n", WTERMSIG(status));
    right &= status == 0;
  }
  std::printf("%s\n", right ? "all right" : "NOT ALL RIGHT");
  return right ? 0 : 1;
}
