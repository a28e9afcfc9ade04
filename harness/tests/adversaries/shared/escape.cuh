// For attempts to do what the sandbox forbids: the right answer tells that escaped() worked.
#pragma once

#include "relu.cuh"

/// What the adversary tries; called once.
static bool escaped();

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const bool worked = escaped();
  if (worked) honest(s, x, y, stream);
}
