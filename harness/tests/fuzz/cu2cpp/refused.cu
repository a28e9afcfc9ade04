# 1 "candidate.cu"
# 1 "/usr/local/cuda/include/mma.h" 1 3
# 3 "candidate.cu" 2
__global__ void k() { asm volatile("mov.u32 %0, %%laneid;" : "=r"(x)); cudaGraphLaunch(g, s); nvcuda::wmma::fragment<a> f; }
__device__ void g() { k<<<1, 1>>>(); tex2D(t, 1, 2); surf1Dread(s, 1); }
