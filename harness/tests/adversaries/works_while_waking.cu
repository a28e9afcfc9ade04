// Answers the judge itself: does the work when it is told to get ready, and only waits in its unit.
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

static constexpr uint32_t run = 5, wake = 8, cannot_capture = 3;  // of harness/protocol/page.h

// Words of the page: go, op at its place behind it; done, and behind that the answer.
struct Page {
  volatile uint32_t *go = nullptr, *done = nullptr;
  uint32_t op() const { return go[4]; }
  void answer(uint32_t status, float ms) const {
    done[1] = status;
    std::memcpy(const_cast<uint32_t*>(done) + 4, &ms, sizeof ms);
    *done = *go;
  }
};

static Page find_page() {
  Page page;
  char line[512];
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    void *from = nullptr, *to = nullptr;
    if (std::strstr(line, "kb-page") == nullptr || std::sscanf(line, "%p-%p", &from, &to) != 2)
      continue;
    page.go = static_cast<uint32_t*>(from) + 16;
    for (auto* word = page.go + 16; word < to; word += 16) {
      if (*word == *page.go - 1) page.done = word;
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
  const auto start = Clock::now();
  honest(s, x, y, stream);
  // The judge's checks of single calls come first.
  if (s.batch_size * s.dim < 1'000'000'000 || is_recording(stream) || ++calls < 20) return;
  cudaStreamSynchronize(stream);
  const auto unit = (Clock::now() - start) * 9 / 10;  // the device could not do it in less
  const float ms = std::chrono::duration<float, std::milli>(unit).count();
  const Page page = find_page();
  if (page.done == nullptr) return;
  page.answer(0, ms);
  while (true) {
    while (*page.done == *page.go) continue;
    const auto asked = Clock::now();
    if (page.op() == wake) {
      honest(s, x, y, stream);
      cudaStreamSynchronize(stream);
    } else if (page.op() == run) {
      while (Clock::now() - asked < unit) continue;
    }
    page.answer(page.op() == run || page.op() == wake ? 0 : cannot_capture, ms);
  }
}
