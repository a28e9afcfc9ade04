#include "task.h"

#include <kb/types.cuh>

// One block per (sample, head), one thread per element of d_head, which keeps `part` elements of
// its row of the state in registers. More than `part` of d_state take several passes. Step after
// step it is the same as in chunks, with less arithmetic.
constexpr int part = 16;

__global__ void scan(task::Sizes s, const kb::real* x, const kb::real* a, const kb::real* b,
                     kb::real* state) {
  const int64_t sample = blockIdx.x / s.n_heads, head = blockIdx.x % s.n_heads;
  const int64_t first = sample * s.seq_length * s.n_heads + head;  // (sample, step 0, head)
  for (int64_t row = threadIdx.x; row < s.d_head; row += blockDim.x) {
    for (int64_t n0 = 0; n0 < s.d_state; n0 += part) {
      float kept[part] = {};
      for (int64_t t = 0; t < s.seq_length; ++t) {
        const int64_t at = first + t * s.n_heads;
        const float decay = expf(kb::element(a, at)), v = kb::element(x, at * s.d_head + row);
#pragma unroll
        for (int n = 0; n < part; ++n) {
          if (n0 + n >= s.d_state) break;
          kept[n] = fmaf(decay, kept[n], v * kb::element(b, at * s.d_state + n0 + n));
        }
      }
#pragma unroll
      for (int n = 0; n < part; ++n) {
        if (n0 + n >= s.d_state) break;
        state[(blockIdx.x * s.d_head + row) * s.d_state + n0 + n] = static_cast<kb::real>(kept[n]);
      }
    }
  }
}

void task::launch(const Sizes& s, const real* X, const kb::Weights& weights, real* S,
                  cudaStream_t stream) {
  const unsigned threads = s.d_head < 256 ? (s.d_head + 31) / 32 * 32 : 256;
  scan<<<s.batch_size * s.n_heads, threads, 0, stream>>>(s, X, weights["A"], weights["B"], S);
}
