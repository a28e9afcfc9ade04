// Leaves a note for its next process in the shared memory, where a tensor was that is gone: nobody
// looks there any more.
// Task: level1/019_relu
// Expected: incorrect
// Says: which are gone
// Backends: cpu
#include "shared/relu.cuh"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdint>

constexpr int kTensors = 4;  // the descriptor of the tensors' memory

static off_t size_now() {
  struct stat file {};
  return fstat(kTensors, &file) == 0 ? file.st_size : 0;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const off_t at_first = size_now();
  static void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, kTensors, 0);
  if (page != MAP_FAILED && size_now() > at_first) static_cast<volatile uint64_t*>(page)[7] = 1;
  honest(s, x, y, stream);
}
