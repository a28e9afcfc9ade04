// minGPT: what its tasks share. Included after task.h.
#pragma once

#include <kb/attention.cuh>

// Causal attention. qkv: [samples * steps, 3 * embed], q, k and v side by side; out: [samples *
// steps, embed].
template <kb::AttentionRows kind>
static void attend(cudaStream_t stream, int64_t samples, int64_t steps, int64_t embed,
                   int64_t heads, const kb::real* qkv, kb::real* out) {
  const kb::AttentionShape shape = {heads, steps, steps, embed / heads, 3 * embed, embed};
  kb::launch_attention<kind>(stream, samples, shape, kb::SeesEarlier{}, qkv, qkv + embed,
                             qkv + 2 * embed, out);
}
