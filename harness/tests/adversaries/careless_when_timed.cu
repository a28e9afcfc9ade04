// Sees that it is timed, and is careless then: the process does not begin with the published small
// sizes, or each call has buffers of its own.
// Task: level1/023_softmax
// Expected: incorrect
// Says: a call among timed ones was wrong
#include "shared/softmax.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const float *last = nullptr, *before = nullptr;
  static bool timed = s.dim != 1536;
  timed =
      timed || (last != nullptr && before != nullptr && x != last && x != before && last != before);
  before = last;
  last = x;
  softmax_of_rows(s, x, y, !timed, stream);
}
