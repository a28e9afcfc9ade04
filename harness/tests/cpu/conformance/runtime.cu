// The runtime API: devices, streams, events, asynchronous memory, graphs and device output.
#include <cassert>
#include <cstdint>
#include <cstring>

#include "conformance.h"

using conformance::Buffer;
using conformance::make;

namespace {

__global__ void scale(float* x, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

KB_FEATURE(device_properties) {
  int count = 0, device = -1, threads = 0, warp = 0;
  KB_CUDA(cudaGetDeviceCount(&count));
  KB_CUDA(cudaSetDevice(0));
  KB_CUDA(cudaGetDevice(&device));
  KB_EXPECT(count >= 1 && device == 0);
  cudaDeviceProp properties;
  KB_CUDA(cudaGetDeviceProperties(&properties, 0));
  KB_CUDA(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, 0));
  KB_CUDA(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0));
  KB_EXPECT(threads == 1024 && properties.maxThreadsPerBlock == 1024 && warp == 32);
  KB_EXPECT(properties.multiProcessorCount > 0 && properties.sharedMemPerBlock == 48 * 1024);
  size_t free_bytes = 0, total = 0;
  KB_CUDA(cudaMemGetInfo(&free_bytes, &total));
  KB_EXPECT(free_bytes > 0 && free_bytes <= total);
}

KB_FEATURE(occupancy_and_attributes) {
  int blocks = 0, grid = 0, block = 0;
  KB_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 0));
  KB_EXPECT(blocks >= 1 && blocks <= 8);
  KB_CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale, 0, 0));
  KB_EXPECT(grid >= 1 && block >= 32 && block <= 1024);
  KB_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      &blocks, scale, 256, 0, cudaOccupancyDisableCachingOverride));
  KB_EXPECT(blocks >= 1 && blocks <= 8);
  const auto shared_bytes = [](int threads) { return threads * sizeof(float); };
  KB_CUDA(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, scale, shared_bytes, 128));
  KB_EXPECT(grid >= 1 && block == 128);
  cudaFuncAttributes attributes;
  KB_CUDA(cudaFuncGetAttributes(&attributes, scale));
  KB_EXPECT(attributes.maxThreadsPerBlock == 1024);
}

__global__ void __launch_bounds__(256) bounded(float* x) { x[threadIdx.x] = 1; }

KB_FEATURE(occupancy_with_launch_bounds) {
  int blocks = 0, grid = 0, block = 0;
  KB_CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0));
  KB_EXPECT(grid >= 1 && block >= 32 && block <= 256);
  Buffer<float> x(1024, 0);
  bounded<<<1, block>>>(x);
  KB_LAUNCHED();
  KB_EXPECT(x.read()[block - 1] == 1);
  KB_CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 512));
  KB_EXPECT(grid >= 1 && block <= 256);
  KB_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 256, 0));
  KB_EXPECT(blocks >= 1 && blocks <= 8);
  // Resources for 512 threads are there; that a launch of so many fails is not this call's to say.
  KB_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 512, 0));
  KB_EXPECT(blocks >= 1);
}

KB_FEATURE(error_names) {
  KB_EXPECT(!std::strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress"));
  KB_EXPECT(!std::strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument"));
  KB_EXPECT(!std::strcmp(cudaGetErrorString(cudaSuccess), "no error"));
}

KB_FEATURE(streams_and_events) {
  cudaStream_t a, b;
  cudaEvent_t start, stop;
  KB_CUDA(cudaStreamCreate(&a));
  KB_CUDA(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  KB_CUDA(cudaEventCreate(&start));
  KB_CUDA(cudaEventCreate(&stop));
  Buffer<float> x(1000, 1);
  KB_CUDA(cudaEventRecord(start, a));
  scale<<<4, 256, 0, a>>>(x, 3, 1000);
  KB_CUDA(cudaEventRecord(stop, a));
  KB_CUDA(cudaStreamWaitEvent(b, stop, 0));
  scale<<<4, 256, 0, b>>>(x, 5, 1000);
  KB_CUDA(cudaStreamSynchronize(b));
  KB_CUDA(cudaEventSynchronize(stop));
  float ms = -1;
  KB_CUDA(cudaEventElapsedTime(&ms, start, stop));
  KB_EXPECT(ms >= 0 && cudaStreamQuery(a) == cudaSuccess && cudaEventQuery(stop) == cudaSuccess);
  KB_EXPECT(x.read() == make<float>(1000, [](int) { return 15; }));
  KB_CUDA(cudaEventDestroy(start));
  KB_CUDA(cudaEventDestroy(stop));
  KB_CUDA(cudaStreamDestroy(a));
  KB_CUDA(cudaStreamDestroy(b));
}

KB_FEATURE(asynchronous_memory) {
  cudaStream_t stream;
  KB_CUDA(cudaStreamCreate(&stream));
  const auto host = make<float>(500, [](int i) { return i; });
  std::vector<float> back(500);
  float* x = nullptr;
  cudaMemPool_t pool;
  uint64_t kept = 1 << 20;
  KB_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
  KB_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
  KB_CUDA(cudaMallocAsync(&x, 500 * sizeof(float), stream));
  KB_CUDA(cudaMemcpyAsync(x, host.data(), 500 * sizeof(float), cudaMemcpyHostToDevice, stream));
  scale<<<2, 256, 0, stream>>>(x, 2, 500);
  KB_CUDA(cudaMemsetAsync(x, 0, 10 * sizeof(float), stream));
  KB_CUDA(cudaMemcpyAsync(back.data(), x, 500 * sizeof(float), cudaMemcpyDeviceToHost, stream));
  KB_CUDA(cudaFreeAsync(x, stream));
  KB_CUDA(cudaStreamSynchronize(stream));
  KB_CUDA(cudaMemPoolTrimTo(pool, 0));
  KB_EXPECT(back == make<float>(500, [](int i) { return i < 10 ? 0 : 2 * i; }));
  KB_CUDA(cudaStreamDestroy(stream));
}

/// A stream, another one, and the events by which it forks and joins.
struct ForkedStreams {
  cudaStream_t stream, side;
  cudaEvent_t fork, join;

  ForkedStreams() {
    KB_CUDA(cudaStreamCreate(&stream));
    KB_CUDA(cudaStreamCreate(&side));
    KB_CUDA(cudaEventCreate(&fork));
    KB_CUDA(cudaEventCreate(&join));
  }
  ForkedStreams(const ForkedStreams&) = delete;
  ~ForkedStreams() {
    KB_CUDA(cudaEventDestroy(fork));
    KB_CUDA(cudaEventDestroy(join));
    KB_CUDA(cudaStreamDestroy(side));
    KB_CUDA(cudaStreamDestroy(stream));
  }
};

KB_FEATURE(graph_capture) {
  const ForkedStreams streams;
  const auto& [stream, side, fork, join] = streams;
  Buffer<float> x(100, 1), y(100, 1);
  KB_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  scale<<<1, 100, 0, stream>>>(x, 2, 100);
  KB_CUDA(cudaEventRecord(fork, stream));
  KB_CUDA(cudaStreamWaitEvent(side, fork, 0));
  scale<<<1, 100, 0, side>>>(y, 3, 100);
  KB_CUDA(cudaEventRecord(join, side));
  KB_CUDA(cudaStreamWaitEvent(stream, join, 0));
  cudaGraph_t graph;
  KB_CUDA(cudaStreamEndCapture(stream, &graph));
  KB_EXPECT(x.read()[0] == 1);  // captured, not run
  size_t nodes = 0;
  KB_CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  KB_EXPECT(nodes == 2);
  cudaGraphExec_t exec;
  KB_CUDA(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) KB_CUDA(cudaGraphLaunch(exec, stream));
  KB_CUDA(cudaStreamSynchronize(stream));
  KB_EXPECT(x.read()[99] == 8 && y.read()[99] == 27);
  KB_CUDA(cudaGraphExecDestroy(exec));
  KB_CUDA(cudaGraphDestroy(graph));
}

// A graph takes in the work of all its streams, or there is none.
KB_FEATURE(graph_capture_joins_streams) {
  const ForkedStreams streams;
  const auto& [stream, side, fork, join] = streams;
  Buffer<float> x(100, 1);
  cudaGraph_t graph;
  for (const bool too_early : {false, true}) {
    KB_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    scale<<<1, 100, 0, stream>>>(x, 2, 100);
    KB_CUDA(cudaEventRecord(fork, stream));
    KB_CUDA(cudaStreamWaitEvent(side, fork, 0));
    if (too_early) KB_CUDA(cudaEventRecord(join, side));
    scale<<<1, 100, 0, side>>>(x, 3, 100);
    if (too_early) KB_CUDA(cudaStreamWaitEvent(stream, join, 0));
    KB_EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
    KB_EXPECT(graph == nullptr);
    cudaGetLastError();
  }
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  KB_CUDA(cudaStreamIsCapturing(side, &status));
  KB_EXPECT(status == cudaStreamCaptureStatusNone);
  // An event of a capture that is over starts none, and what follows runs.
  KB_EXPECT(cudaStreamWaitEvent(side, fork, 0) != cudaSuccess);
  cudaGetLastError();
  scale<<<1, 100, 0, side>>>(x, 5, 100);
  KB_CUDA(cudaStreamSynchronize(side));
  KB_EXPECT(x.read()[99] == 5);
}

__global__ void talk(int n) {
  assert(n > 0);
  if (threadIdx.x == 0) printf("block %d says %d %s %.2f\n", int(blockIdx.x), n, "words", 0.5);
}

KB_FEATURE(device_printf_and_assert) {
  talk<<<2, 32>>>(7);
  KB_LAUNCHED();
}

KB_FEATURE(host_function_in_stream) {
  cudaStream_t stream;
  KB_CUDA(cudaStreamCreate(&stream));
  int calls = 0;
  KB_CUDA(cudaLaunchHostFunc(
      stream, [](void* count) { ++*static_cast<int*>(count); }, &calls));
  KB_CUDA(cudaStreamSynchronize(stream));
  KB_EXPECT(calls == 1);
  KB_CUDA(cudaStreamDestroy(stream));
}

__global__ void device_heap(int** slots) {
  int* mine = static_cast<int*>(malloc(4 * sizeof(int)));
  for (int i = 0; i < 4; ++i) mine[i] = threadIdx.x * 4 + i;
  slots[threadIdx.x] = mine;
}
__global__ void collect_heap(int** slots, int* out) {
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = slots[threadIdx.x][i];
  free(slots[threadIdx.x]);
}

KB_FEATURE(device_heap_memory) {
  Buffer<int*> slots(16, nullptr);
  Buffer<int> out(64, 0);
  device_heap<<<1, 16>>>(slots);
  collect_heap<<<1, 16>>>(slots, out);
  KB_LAUNCHED();
  KB_EXPECT(out.read() == make<int>(64, [](int i) { return i; }));
}

}  // namespace
