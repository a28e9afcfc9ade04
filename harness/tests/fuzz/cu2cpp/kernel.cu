# 1 "candidate.cu"
# 1 "<built-in>"
# 31 "<command-line>"
# 1 "/usr/include/stdc-predef.h" 1 3 4
# 32 "<command-line>" 2
# 1 "candidate.cu"
template <int Block>
__global__ __launch_bounds__(Block) void sum(const float* __restrict__ x, float* y, int n) {
  __shared__ float partial[Block], (*rows)[4];
  extern __shared__ double dynamic[];
  partial[threadIdx.x] = x[blockIdx.x * Block + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(y, partial[0]);
}
__constant__ float table[4] = {1, 2, 3, 4};
__device__ __forceinline__ int twice(int v) { return 2 * v; }
static __device__ int counter;
void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  sum<256><<<(s.n + 255) / 256, 256, 0, stream>>>(x, y, s.n);
  void (*kernel)(const float*, float*, int) = sum<128>;
  kernel<<<dim3(1, 2), {128, 1, 1}>>>(x, y, 1);
}
