// Shared, constant, global and device memory, copies and vector types.
#include <cuda_pipeline.h>

#include "conformance.h"

using conformance::Buffer;
using conformance::make;

namespace {

__global__ void reverse_static(const int* x, int* y) {
  __shared__ int tile[256], unused;
  tile[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  if (threadIdx.x == 0) unused = 0;
  __syncthreads();
  y[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x] + unused;
}

KB_FEATURE(shared_static) {
  Buffer<int> x(make<int>(1024, [](int i) { return i; })), y(1024, 0);
  reverse_static<<<4, 256>>>(x, y);
  KB_LAUNCHED();
  KB_EXPECT(y.read() == make<int>(1024, [](int i) { return i / 256 * 256 + 255 - i % 256; }));
}

template <int Tile>
__global__ void transpose(const float* x, float* y, int n) {
  __shared__ float tile[Tile][Tile + 1];
  int column = blockIdx.x * Tile + threadIdx.x, row = blockIdx.y * Tile + threadIdx.y;
  if (row < n && column < n) tile[threadIdx.y][threadIdx.x] = x[row * n + column];
  __syncthreads();
  column = blockIdx.y * Tile + threadIdx.x, row = blockIdx.x * Tile + threadIdx.y;
  if (row < n && column < n) y[row * n + column] = tile[threadIdx.x][threadIdx.y];
}

KB_FEATURE(shared_two_dimensions) {
  const int n = 50;
  Buffer<float> x(make<float>(n * n, [](int i) { return i; })), y(n * n, 0);
  transpose<16><<<dim3(4, 4), dim3(16, 16)>>>(x, y, n);
  KB_LAUNCHED();
  KB_EXPECT(y.read() == make<float>(n * n, [](int i) { return i % 50 * 50 + i / 50; }));
}

extern __shared__ float4 dynamic4[];
__global__ void dynamic_vector(float* out) {
  float* words = reinterpret_cast<float*>(dynamic4);
  words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < 16) {
    const float4 v = dynamic4[threadIdx.x];
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
  }
}

KB_FEATURE(shared_dynamic) {
  Buffer<float> out(16, 0);
  dynamic_vector<<<1, 64, 64 * sizeof(float)>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<float>(16, [](int i) { return 16 * i + 6; }));
}

__global__ void big_dynamic(int* out, int words) {
  extern __shared__ int data[];
  for (int i = threadIdx.x; i < words; i += blockDim.x) data[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = data[words - 1] + data[0];
}

KB_FEATURE(shared_dynamic_opt_in) {
  Buffer<int> out(2, 0);
  const int bytes = 96 * 1024;
  KB_CUDA(cudaFuncSetAttribute(big_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  big_dynamic<<<2, 128, bytes>>>(out, bytes / 4);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(2, [](int) { return 96 * 1024 / 4 - 1; }));
}

__global__ void static_and_dynamic(int* out) {
  __shared__ int fixed[10 * 1024];
  extern __shared__ int data[];
  fixed[threadIdx.x] = threadIdx.x;
  data[threadIdx.x] = 100;
  __syncthreads();
  out[threadIdx.x] = fixed[63 - threadIdx.x] + data[63 - threadIdx.x];
}

// Together more than the 48 KB that need no permission.
KB_FEATURE(shared_static_and_dynamic) {
  Buffer<int> out(64, 0);
  const int bytes = 40 * 1024;
  static_and_dynamic<<<1, 64, 8 * 1024>>>(out);
  KB_LAUNCHED();
  KB_CUDA(
      cudaFuncSetAttribute(static_and_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  static_and_dynamic<<<1, 64, bytes>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(64, [](int i) { return 163 - i; }));
}

__shared__ int block_scratch[64];
__device__ int neighbour(int i) { return block_scratch[(i + 1) % 64]; }
__global__ void shared_at_namespace_scope(int* out) {
  block_scratch[threadIdx.x] = threadIdx.x * 3;
  __syncthreads();
  auto read = [=](int i) { return block_scratch[i] + neighbour(i); };
  out[threadIdx.x] = read(threadIdx.x);
}

KB_FEATURE(shared_namespace_scope) {
  Buffer<int> out(64, 0);
  shared_at_namespace_scope<<<1, 64>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(64, [](int i) { return 3 * i + (i + 1) % 64 * 3; }));
}

__global__ void lambda_over_shared(int* out) {
  __shared__ int values[32];
  auto put = [=](int i, int v) { values[i] = v; };  // shared variables are not captured
  put(threadIdx.x, threadIdx.x * threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = values[31 - threadIdx.x];
}

KB_FEATURE(shared_in_lambda) {
  Buffer<int> out(32, 0);
  lambda_over_shared<<<1, 32>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(32, [](int i) { return (31 - i) * (31 - i); }));
}

struct Pair {
  int key;
  float value;
};
__global__ void shared_struct(float* out) {
  __shared__ Pair pairs[32];
  __shared__ union {
    int word;
    float real;
  } both;
  pairs[threadIdx.x] = {int(threadIdx.x), 0.5f * threadIdx.x};
  if (threadIdx.x == 0) both.real = 1.0f;
  __syncthreads();
  const Pair p = pairs[(threadIdx.x + 7) % 32];
  out[threadIdx.x] = p.key + p.value + (both.word == 0x3f800000);
}

KB_FEATURE(shared_struct_and_union) {
  Buffer<float> out(32, 0);
  shared_struct<<<1, 32>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<float>(32, [](int i) { return 1.5f * ((i + 7) % 32) + 1; }));
}

__constant__ float coefficients[4];
__constant__ int fixed_table[3] = {10, 20, 30};
__global__ void polynomial(const float* x, float* y) {
  float sum = 0;
  for (int i = 3; i >= 0; --i) sum = sum * x[threadIdx.x] + coefficients[i];
  y[threadIdx.x] = sum + fixed_table[threadIdx.x % 3];
}

KB_FEATURE(constant_memory) {
  const float host[4] = {1, 2, 3, 4};
  KB_CUDA(cudaMemcpyToSymbol(coefficients, host, sizeof host));
  Buffer<float> x(make<float>(32, [](int i) { return i; })), y(32, 0);
  polynomial<<<1, 32>>>(x, y);
  KB_LAUNCHED();
  KB_EXPECT(y.read() == make<float>(32, [](int i) {
              return 1 + 2 * i + 3 * i * i + 4 * i * i * i + 10 * (i % 3 + 1);
            }));
}

__device__ int counter = 5;
__device__ float device_array[64];
__global__ void touch_globals() {
  if (threadIdx.x == 0) counter += 2;
  device_array[threadIdx.x] = threadIdx.x;
}

KB_FEATURE(device_variables) {
  touch_globals<<<1, 64>>>();
  KB_LAUNCHED();
  int value = 0;
  KB_CUDA(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  KB_EXPECT(value == 7);
  void* address = nullptr;
  KB_CUDA(cudaGetSymbolAddress(&address, device_array));
  float host[64];
  KB_CUDA(cudaMemcpy(host, address, sizeof host, cudaMemcpyDeviceToHost));
  KB_EXPECT(host[63] == 63);
}

__global__ void vector_copy(const float4* x, float4* y, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  float4 v = x[i];
  v.x += v.w;
  y[i] = make_float4(v.w, v.z, v.y, v.x);
}

KB_FEATURE(vector_types) {
  KB_EXPECT(sizeof(float3) == 12 && alignof(float3) == 4 && sizeof(float4) == 16 &&
            alignof(float4) == 16);
  KB_EXPECT(sizeof(double2) == 16 && alignof(double2) == 16 && sizeof(uchar4) == 4 &&
            alignof(uchar4) == 4);
  KB_EXPECT(sizeof(int2) == 8 && alignof(int2) == 8 && sizeof(short4) == 8 &&
            sizeof(longlong2) == 16);
  Buffer<float> x(make<float>(128, [](int i) { return i; })), y(128, 0);
  vector_copy<<<1, 32>>>(reinterpret_cast<float4*>((float*)x), reinterpret_cast<float4*>((float*)y),
                         32);
  KB_LAUNCHED();
  KB_EXPECT(y.read() == make<float>(128, [](int i) {
              const int base = i / 4 * 4;
              return i % 4 == 3 ? base + base + 3 : base + 3 - i % 4;
            }));
}

__global__ void cached_loads(const float* __restrict__ x, const float2* __restrict__ p, float* y) {
  const int i = threadIdx.x;
  const float2 pair = __ldg(p + i / 2);
  __stcs(y + i, __ldg(&x[i]) + __ldcs(x + i) + __ldcg(x + i) + (i % 2 ? pair.y : pair.x));
}

KB_FEATURE(cached_loads_and_stores) {
  Buffer<float> x(make<float>(64, [](int i) { return i; })), y(64, 0);
  cached_loads<<<1, 64>>>(x, reinterpret_cast<const float2*>((float*)x), y);
  KB_LAUNCHED();
  KB_EXPECT(y.read() == make<float>(64, [](int i) { return 4 * i; }));
}

__global__ void copy_ahead(const int* x, int* y) {
  __shared__ int stage[64];
  __pipeline_memcpy_async(&stage[threadIdx.x], &x[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  y[threadIdx.x] = stage[63 - threadIdx.x];
}

KB_FEATURE(pipeline_copy) {
  Buffer<int> x(make<int>(64, [](int i) { return i; })), y(64, 0);
  copy_ahead<<<1, 64>>>(x, y);
  KB_LAUNCHED();
  KB_EXPECT(y.read() == make<int>(64, [](int i) { return 63 - i; }));
}

KB_FEATURE(copy_two_dimensions) {
  float* data = nullptr;
  size_t pitch = 0;
  KB_CUDA(cudaMallocPitch(&data, &pitch, 10 * sizeof(float), 5));
  KB_EXPECT(pitch >= 10 * sizeof(float) && pitch % 32 == 0);
  const auto host = make<float>(50, [](int i) { return i; });
  KB_CUDA(cudaMemcpy2D(data, pitch, host.data(), 40, 40, 5, cudaMemcpyHostToDevice));
  KB_CUDA(cudaMemset2D(data, pitch, 0, 8, 5));
  std::vector<float> back(50);
  KB_CUDA(cudaMemcpy2D(back.data(), 40, data, pitch, 40, 5, cudaMemcpyDeviceToHost));
  KB_EXPECT(back == make<float>(50, [](int i) { return i % 10 < 2 ? 0 : i; }));
  KB_CUDA(cudaFree(data));
}

KB_FEATURE(copy_and_fill) {
  Buffer<int> a(make<int>(100, [](int i) { return i; })), b(100, 0);
  KB_CUDA(cudaMemcpy(b + 10, a, 50 * sizeof(int), cudaMemcpyDeviceToDevice));
  KB_CUDA(cudaMemset(b, 0xff, 5 * sizeof(int)));
  KB_EXPECT(b.read() == make<int>(100, [](int i) {
              return i < 5 ? -1 : i >= 10 && i < 60 ? i - 10 : 0;
            }));
  KB_EXPECT(cudaMemcpy(b, a, size_t(1) << 40, cudaMemcpyDeviceToDevice) != cudaSuccess);
  cudaGetLastError();
}

KB_FEATURE(managed_and_pinned_memory) {
  int *managed = nullptr, *pinned = nullptr;
  KB_CUDA(cudaMallocManaged(&managed, 64 * sizeof(int)));
  KB_CUDA(cudaMallocHost(&pinned, 64 * sizeof(int)));
  for (int i = 0; i < 64; ++i) managed[i] = 3 * i;
  copy_ahead<<<1, 64>>>(managed, managed);
  KB_LAUNCHED();
  KB_CUDA(cudaMemcpy(pinned, managed, 64 * sizeof(int), cudaMemcpyDefault));
  KB_EXPECT(managed[0] == 189 && pinned[63] == 0);
  cudaPointerAttributes attributes;
  KB_CUDA(cudaPointerGetAttributes(&attributes, pinned));
  KB_EXPECT(attributes.type == cudaMemoryTypeHost);
  int* mapped = nullptr;
  KB_CUDA(cudaHostGetDevicePointer(&mapped, pinned, 0));
  copy_ahead<<<1, 64>>>(mapped, mapped);
  KB_LAUNCHED();
  KB_EXPECT(pinned[0] == 0 && pinned[63] == 189);
  KB_CUDA(cudaFree(managed));
  KB_CUDA(cudaFreeHost(pinned));
}

__shared__ int of_the_file[64];
__global__ void shared_in_lambdas(int* out) {
  __shared__ int values[64];
  extern __shared__ int more[];
  const int i = threadIdx.x;
  int sum = 0;
  auto by_copy = [=, &sum](int k) { sum += values[k] + more[k]; };
  auto by_reference = [&](int k) { sum += values[k]; };
  auto listed = [&sum](int k) { sum += more[k] + of_the_file[k]; };
  auto none = [](int k) { values[k] += 1000; };
  auto nested = [=](int k) {
    auto inner = [k] { return of_the_file[k] + values[k]; };
    return inner();
  };
  auto other = [i](const int* values) { return values[i]; };  // a name of its own
  values[i] = i;
  more[i] = 100 * i;
  of_the_file[i] = 10000 * i;
  none(i);
  __syncthreads();
  by_copy(63 - i);
  by_reference(0);
  listed(63 - i);
  out[i] = sum + nested(i) + other(values);
}

KB_FEATURE(shared_captured_by_lambdas) {
  Buffer<int> out(64, 0);
  shared_in_lambdas<<<1, 64, 64 * sizeof(int)>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(64, [](int i) {
              const int k = 63 - i;
              return (k + 1000 + 100 * k) + 1000 + (100 * k + 10000 * k) + (10000 * i + i + 1000) +
                     (i + 1000);
            }));
}

struct __align__(16) Quad {
  float x, y, z, w;
};
extern __shared__ __align__(128) unsigned char raw_bytes[];
__shared__ __align__(64) float of_all[3];

template <int N>
__global__ void aligned_shared(int* out) {
  __shared__ __align__(16) float a[N];
  __align__(32) __shared__ float b[3];
  __shared__ float __align__(64) c[3];
  __shared__ float d[3] __align__(128), e[3] __align__(64);
  alignas(128) __shared__ float f[3];
  __shared__ alignas(64) float g[3];
  __shared__ alignas(alignof(Quad)) unsigned char h[sizeof(Quad) * 2];
  __shared__ __attribute__((aligned(32))) char i[3];
  __shared__ int *pointer, number, *const *second, array[4];
  const void* addresses[] = {a, b, c, d, e, f, g, h, i, raw_bytes, of_all};
  const int alignments[] = {16, 32, 64, 128, 64, 128, 64, 16, 32, 128, 64};
  if (threadIdx.x == 0) {
    for (int k = 0; k < 3; ++k)
      a[k] = b[k] = c[k] = d[k] = e[k] = f[k] = g[k] = h[k] = i[k] = raw_bytes[k] = of_all[k] = k;
    pointer = out, number = 2, second = &pointer, array[1] = 5;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 11; k += blockDim.x)
    out[k] = int(reinterpret_cast<size_t>(addresses[k]) % alignments[k]);
  if (threadIdx.x == 0) {
    pointer[11] = number + array[1] + (*second == out);
    out[12] = int(a[2] + b[2] + c[2] + d[2] + e[2] + f[2] + g[2] + of_all[2]) + h[2] + i[2];
  }
}

KB_FEATURE(shared_alignment_and_declarators) {
  Buffer<int> out(13, -1);
  aligned_shared<5><<<1, 4, 64>>>(out);
  KB_LAUNCHED();
  KB_EXPECT((out.read() == std::vector<int>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 20}));
}

}  // namespace
