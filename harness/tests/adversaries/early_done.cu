// Says in the page that it shares with the judge that it is done while its kernel still runs.
// Task: level1/019_relu
// Expected: cheat or incorrect
// Backends: cuda
#include "task.h"

#include <chrono>
#include <cstdio>
#include <cstring>

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

static void honest(const task::Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

// The numbers of the request and of the last answer, which is one less during a call.
struct Page {
  volatile uint32_t *request = nullptr, *answer = nullptr;
};

static Page find_page() {
  Page page;
  char line[512];
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    void *from = nullptr, *to = nullptr;
    if (std::strstr(line, "kb-page") == nullptr || std::sscanf(line, "%p-%p", &from, &to) != 2)
      continue;
    page.request = static_cast<uint32_t*>(from) + 16;
    for (auto* word = page.request + 16; word < to; word += 16) {
      if (*word == *page.request - 1) page.answer = word;
    }
  }
  return page;
}

static bool is_recording(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  return cudaStreamIsCapturing(stream, &status) != cudaSuccess ||
         status != cudaStreamCaptureStatusNone;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  using Clock = std::chrono::steady_clock;
  static int calls = 0;
  static Clock::duration whole{};
  const auto start = Clock::now();
  honest(s, x, y, stream);
  // The judge's checks of single calls come first.
  if (s.batch_size * s.dim < 1'000'000'000 || is_recording(stream) || ++calls < 20) return;
  if (calls == 20) {
    cudaStreamSynchronize(stream);
    whole = Clock::now() - start;
    return;
  }
  while (Clock::now() - start < whole * 8 / 10) continue;
  static const Page page = find_page();
  if (page.answer != nullptr) *page.answer = *page.request;
}
