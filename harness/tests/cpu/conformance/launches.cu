// Ways to define and to launch kernels.
#include "conformance.h"

using conformance::Buffer;
using conformance::make;

namespace {

__global__ void write_index(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;
}

KB_FEATURE(launch_plain) {
  Buffer<int> out(1000, -1);
  write_index<<<(1000 + 127) / 128, 128>>>(out, 1000);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(1000, [](int i) { return i; }));
}

// In two blocks each thread's fiber changes under ThreadSanitizer.
KB_FEATURE(launch_largest_block) {
  Buffer<int> out(2048, -1);
  write_index<<<2, 1024>>>(out, 2048);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(2048, [](int i) { return i; }));
}

__global__ void write_coordinates(int* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z * blockDim.z + threadIdx.z;
  const int width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
  out[(z * height + y) * width + x] = x + 100 * y + 10000 * z;
}

KB_FEATURE(launch_three_dimensions) {
  const dim3 grid(3, 2, 2), block(4, 3, 2);
  Buffer<int> out(12 * 6 * 4, -1);
  write_coordinates<<<grid, block>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(12 * 6 * 4, [](int i) {
              return i % 12 + 100 * (i / 12 % 6) + 10000 * (i / 72);
            }));
}

template <typename T, int Scale>
__global__ void __launch_bounds__(64) scaled(T* out, T value) {
  out[threadIdx.x] = value * T(Scale) + T(threadIdx.x);
}

KB_FEATURE(launch_template) {
  Buffer<float> f(64, 0);
  Buffer<long long> l(64, 0);
  scaled<float, 3><<<1, 64>>>(f, 0.5f);
  scaled<long long, 7><<<1, 64>>>(l, 1ll << 40);
  KB_LAUNCHED();
  KB_EXPECT(f.read() == make<float>(64, [](int i) { return 1.5f + i; }));
  KB_EXPECT(l.read() == make<long long>(64, [](int i) { return 7 * (1ll << 40) + i; }));
}

#define KB_LAUNCH_1D(kernel, n, ...) kernel<<<((n) + 63) / 64, 64>>>(__VA_ARGS__)

KB_FEATURE(launch_through_macro) {
  Buffer<int> out(100, -1);
  if (true)
    KB_LAUNCH_1D(write_index, 100, out, 100);
  else
    KB_LAUNCH_1D(write_index, 1, out, 1);
  KB_LAUNCHED();
  KB_EXPECT(out.read()[99] == 99);
}

__global__ void add_one(int* out, int n) {
  if (int(threadIdx.x) < n) out[threadIdx.x] += 1;
}

KB_FEATURE(launch_function_pointer) {
  Buffer<int> out(32, 5);
  void (*table[2])(int*, int) = {add_one, write_index};
  table[0]<<<1, 32>>>(out, 32);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(32, [](int) { return 6; }));
  table[1]<<<1, 32>>>(out, 32);
  KB_LAUNCHED();
  KB_EXPECT(out.read()[31] == 31);
}

KB_FEATURE(launch_in_lambda) {
  Buffer<int> out(64, -1);
  auto run = [&](int blocks) { write_index<<<blocks, 32>>>(out, 64); };
  run(2);
  KB_LAUNCHED();
  KB_EXPECT(out.read()[63] == 63);
}

template <int V, bool Twice>
__global__ void add_value(int* out) {
  atomicAdd(out, Twice ? 2 * V : V);
}

KB_FEATURE(launch_in_conditional) {
  Buffer<int> out(1, 0);
  for (int i = 0; i < 3; ++i) {
    i == 0 ? add_value<1, false><<<1, 1>>>(out) : add_value<10, (2 > 1)><<<1, 1>>>(out);
    i == 0   ? add_value<100, false><<<1, 1>>>(out)
    : i == 1 ? add_value<(1 > 0 ? 1000 : 1), false><<<1, 1>>>(out)
             : (void)0,
        add_value<100000, false><<<1, 1>>>(out);
    switch (i) {
      case 2:
        if (i > 0) add_value<10000, false><<<1, 1>>>(out);
    }
  }
  KB_LAUNCHED();
  KB_EXPECT(out.read()[0] == 1 + 2 * 20 + 100 + 1000 + 10000 + 3 * 100000);
}

KB_FEATURE(launch_kernel_api) {
  Buffer<int> out(256, -1);
  int* data = out;
  int n = 256;
  void* arguments[] = {&data, &n};
  KB_CUDA(cudaLaunchKernel((const void*)write_index, dim3(2), dim3(128), arguments, 0, nullptr));
  KB_LAUNCHED();
  KB_EXPECT(out.read()[255] == 255);
}

template <class T>
__global__ void with_shared(T* out, int n) {
  extern __shared__ char bytes[];
  T* values = reinterpret_cast<T*>(bytes);
  values[threadIdx.x] = T(threadIdx.x);
  __syncthreads();
  if (int(threadIdx.x) < n) out[threadIdx.x] += values[n - 1 - threadIdx.x];
}

static const void* const kernel_table[] = {(const void*)add_one, (void const*)&with_shared<int>};

KB_FEATURE(launch_untyped_pointers) {
  Buffer<int> out(32, 0);
  int *data = out, n = 32;
  void* arguments[] = {&data, &n};
  const void* untyped = (const void*)add_one;
  void (*typed)(int*, int) = with_shared<int>;
  void* of_typed = reinterpret_cast<void*>(typed);
  const size_t bytes = 64 * 1024;
  KB_CUDA(cudaFuncSetAttribute((void const*)with_shared<int>,
                               cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  KB_CUDA(cudaLaunchKernel(untyped, 1, 32, arguments, 0, nullptr));
  KB_CUDA(cudaLaunchKernel(kernel_table[0], 1, 32, arguments, 0, nullptr));
  KB_CUDA(cudaLaunchKernel(kernel_table[1], 1, 32, arguments, bytes, nullptr));
  KB_CUDA(cudaLaunchKernel((void*)typed, 1, 32, arguments, bytes, nullptr));
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 32;
  config.dynamicSmemBytes = bytes;
  KB_CUDA(cudaLaunchKernelExC(&config, of_typed, arguments));
  KB_LAUNCHED();
  cudaFuncAttributes attributes;
  KB_CUDA(cudaFuncGetAttributes(&attributes, kernel_table[1]));
  KB_EXPECT(attributes.maxDynamicSharedSizeBytes == int(bytes));
  KB_EXPECT(out.read() == make<int>(32, [](int i) { return 2 + 3 * (31 - i); }));
}

KB_FEATURE(launch_kernel_ex) {
  Buffer<int> out(256, -1);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2);
  config.blockDim = dim3(128);
  KB_CUDA(cudaLaunchKernelEx(&config, write_index, (int*)out, 256));
  KB_LAUNCHED();
  KB_EXPECT(out.read()[255] == 255);
}

KB_FEATURE(launch_kernel_exc) {
  Buffer<int> out(256, -1);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2);
  config.blockDim = dim3(128);
  int* data = out;
  int n = 256;
  void* arguments[] = {&data, &n};
  KB_CUDA(cudaLaunchKernelExC(&config, (const void*)write_index, arguments));
  KB_LAUNCHED();
  KB_EXPECT(out.read()[255] == 255);
}

struct Affine {
  float scale, shift;
  __host__ __device__ float operator()(float x) const { return scale * x + shift; }
};

template <class F>
__global__ void map(float* x, F f) {
  x[threadIdx.x] = f(x[threadIdx.x]);
}

KB_FEATURE(launch_functor_argument) {
  Buffer<float> x(make<float>(32, [](int i) { return i; }));
  map<<<1, 32>>>(x, Affine{2, 1});
  KB_LAUNCHED();
  KB_EXPECT(x.read() == make<float>(32, [](int i) { return 2 * i + 1; }));
}

__global__ void parameters_are_private(int* out, int offset) {
  out += threadIdx.x;  // each thread has its own copy of the parameters
  offset += threadIdx.x;
  *out = offset;
}

KB_FEATURE(kernel_parameters_private) {
  Buffer<int> out(64, 0);
  parameters_are_private<<<1, 64>>>(out, 10);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(64, [](int i) { return i + 10; }));
}

template <class... T>
__global__ void sum_all(double* out, T... values) {
  out[threadIdx.x] = (double(values) + ... + threadIdx.x);
}

KB_FEATURE(kernel_variadic_template) {
  Buffer<double> out(4, 0);
  sum_all<<<1, 4>>>((double*)out, 1, 2.5f, 3ll);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<double>(4, [](int i) { return 6.5 + i; }));
}

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void recurse(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x); }

KB_FEATURE(device_recursion) {
  Buffer<int> out(16, -1);
  recurse<<<1, 16>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read()[15] == 610);
}

__global__ void grid_stride(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = 2 * x[i];
}

KB_FEATURE(grid_stride_loop) {
  Buffer<float> x(make<float>(10007, [](int i) { return i % 97; })), y(10007, 0);
  grid_stride<<<7, 96>>>(x, y, 10007);
  KB_LAUNCHED();
  KB_EXPECT(y.read() == make<float>(10007, [](int i) { return 2 * (i % 97); }));
}

// CUDA 12 answers cudaErrorInvalidConfiguration, CUDA 13 cudaErrorInvalidValue.
static bool refuses_shape(cudaError_t error) {
  return error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidValue;
}

// Which limit each launch violates is in the CUDA programming guide; the codes are what the runtime
// gives for it. None of them is sticky: the next call works again.
KB_FEATURE(launch_errors) {
  Buffer<int> out(8, 0);
  cudaGetLastError();
  write_index<<<1, 2048>>>(out, 8);
  KB_EXPECT(refuses_shape(cudaPeekAtLastError()));
  KB_EXPECT(refuses_shape(cudaGetLastError()));
  KB_EXPECT_ERROR(cudaGetLastError(), cudaSuccess);
  write_index<<<1, dim3(1, 1, 65)>>>(out, 8);
  KB_EXPECT(refuses_shape(cudaGetLastError()));
  write_index<<<0, 32>>>(out, 8);
  KB_EXPECT(refuses_shape(cudaGetLastError()));
  write_index<<<1, 0>>>(out, 8);
  KB_EXPECT(refuses_shape(cudaGetLastError()));
  write_index<<<dim3(1, 70000), 32>>>(out, 8);
  KB_EXPECT(refuses_shape(cudaGetLastError()));
  write_index<<<1, 32, 60 * 1024>>>(out, 8);  // more than 48 KB need cudaFuncSetAttribute
  KB_EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  write_index<<<1, 32, 300 * 1024>>>(out, 8);  // more than any device has
  KB_EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  KB_EXPECT_ERROR(cudaDeviceSynchronize(), cudaSuccess);
  write_index<<<1, 32>>>(out, 8);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(8, [](int i) { return i; }));
}

__global__ void __launch_bounds__(64) bounded(int* out) { out[threadIdx.x] = 1; }

KB_FEATURE(launch_bounds_errors) {
  Buffer<int> out(128, 0);
  bounded<<<1, 128>>>(out);
  KB_EXPECT(cudaGetLastError() != cudaSuccess);
  KB_EXPECT_ERROR(cudaDeviceSynchronize(), cudaSuccess);
  KB_EXPECT(out.read() == make<int>(128, [](int) { return 0; }));
}

// Expressions of all kinds in the three places where CUDA's own syntax holds one.
template <int N>
__global__ void __launch_bounds__(1 << 6, N >> 5 <= 1 ? 2 : 1) operators(int* out) {
  __shared__ int a[N << 1], b[N >> 1][N >= 64 && N != 65 ? 33 : 1];
  __shared__ int c[N <= 32 || N == 64 ? 5 : 1];
  a[threadIdx.x] = int(sizeof a / sizeof(int));
  if (threadIdx.x == 0) {
    b[0][0] = int(sizeof b / sizeof b[0]) * 100 + int(sizeof b[0] / sizeof(int));
    c[0] = int(sizeof c / sizeof(int));
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = a[0] * 100000 + b[0][0] * 10 + c[0];
}
template <int N>
__launch_bounds__(N <= 64 ? N : 64) __global__ void bounds_in_front(int* out) {
  out[threadIdx.x] += 1;
}

KB_FEATURE(operators_everywhere) {
  const int expected = 128 * 100000 + (32 * 100 + 33) * 10 + 5;
  Buffer<int> out(256, 0);
  int n = 128, blocks = 2, zero = 0;
  cudaStream_t stream = nullptr;
  operators<64><<<(n >> 6), 1 << 6>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(256, [=](int i) { return i < 128 ? expected : 0; }));
  operators<64><<<n >= 128 && n != 3 ? 3 : 1, n <= 256 ? 64 : 512, zero || n == 3, stream>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(256, [=](int i) { return i < 192 ? expected : 0; }));
  operators<64><<<blocks++, n >>= 1, zero++>>>(out);
  KB_EXPECT(blocks == 3 && n == 64 && zero == 1);
  bounds_in_front<128><<<1, n += 1>>>(out);
  KB_EXPECT(cudaGetLastError() != cudaSuccess);
  bounds_in_front<32><<<1, (n >> 1)>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() ==
            make<int>(256, [=](int i) { return (i < 192 ? expected : 0) + (i < 32); }));
}

// What only the device's compilation sees, and what only the host's.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
__device__ double atomicAdd(double* address, double value) { return *address += value; }
#endif
#ifdef __CUDA_ARCH__
#define KB_SIDE 1
#define KB_READ(pointer) __ldg(pointer)
#else
#define KB_SIDE 2
#define KB_READ(pointer) (*(pointer))
#endif
__host__ __device__ int side() {
#if defined(__CUDA_ARCH__)
  return 1;
#else
  return 2;
#endif
}
struct OnASide {
  int value;
  __host__ __device__ explicit OnASide(int start) : value(start) {
#ifdef __CUDA_ARCH__
    value += 10;
#endif
  }
  __host__ __device__ int number() const { return value + KB_SIDE; }
};
__device__ int square_of_side() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return 64;
#else
  return 0;
#endif
}

__global__ void by_architecture(const int* x, int* out, double* sum) {
#if __CUDA_ARCH__ >= 700
  __shared__ int values[64];
  values[threadIdx.x] = KB_READ(x + threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = values[63 - threadIdx.x] * 1000 + side() * 100 + OnASide(5).number();
  atomicAdd(sum, double(square_of_side()));
#endif
}

KB_FEATURE(architecture_views) {
  Buffer<int> x(make<int>(64, [](int i) { return i; })), out(64, -1);
  Buffer<double> sum(1, 0);
  by_architecture<<<1, 64>>>(x, out, sum);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(64, [](int i) { return (63 - i) * 1000 + 116; }));
  KB_EXPECT(sum.read()[0] == 4096);
  KB_EXPECT(side() == 2 && OnASide(5).number() == 7 && KB_SIDE == 2);
}

}  // namespace
