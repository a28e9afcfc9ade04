// Answers the judge itself: does the work when it is told to get ready, and only waits in its unit.
// Task: level1/019_relu
// Expected: cheat or incorrect
// Backends: cuda
#include "shared/page.cuh"

#include <chrono>

// Of harness/sandbox/protocol/page.h.
static constexpr uint32_t run = 5, wake = 8, cannot_capture = 3;

// Words of the page: the operation stands behind the request, status and time behind the answer.
struct Conversation {
  volatile uint32_t *go, *done;
  uint32_t op() const { return go[4]; }
  void answer(uint32_t status, float ms) const {
    done[1] = status;
    std::memcpy(const_cast<uint32_t*>(done) + 4, &ms, sizeof ms);
    *done = *go;
  }
};

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  using Clock = std::chrono::steady_clock;
  static int calls = 0;
  const auto start = Clock::now();
  honest(s, x, y, stream);
  // The judge's checks of single calls come first.
  if (s.batch_size * s.dim < 1'000'000'000 || is_capturing(stream) || ++calls < 20) return;
  cudaStreamSynchronize(stream);
  const auto unit = (Clock::now() - start) * 9 / 10;  // the device could not do it in less
  const float ms = std::chrono::duration<float, std::milli>(unit).count();
  const Page page = find_page();
  const Conversation judge{page.request(), page.answer()};
  if (judge.done == nullptr) return;
  judge.answer(0, ms);
  while (true) {
    while (*judge.done == *judge.go) continue;
    const auto asked = Clock::now();
    if (judge.op() == wake) {
      honest(s, x, y, stream);
      cudaStreamSynchronize(stream);
    } else if (judge.op() == run) {
      while (Clock::now() - asked < unit) continue;
    }
    judge.answer(judge.op() == run || judge.op() == wake ? 0 : cannot_capture, ms);
  }
}
