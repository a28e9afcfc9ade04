// Prints ten megabytes in each of its first calls.
// Task: level1/019_relu
// Expected: pass
#include "../shared/relu.cuh"

#include <string>

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const std::string line(1 << 16, '.');
  static int calls = 0;
  for (int i = 0; i < 160 && calls < 5; ++i) std::puts(line.c_str());
  ++calls;
  honest(s, x, y, stream);
}
