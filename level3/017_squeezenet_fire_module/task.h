// A fire module of SqueezeNet: a narrow convolution, then two wide ones side by side.
// x: [batch_size, num_input_features, height, width];
// y: [batch_size, expand1x1_channels + expand3x3_channels, height, width]; all tensors row-major.
//   x = relu(squeeze(x))                                     squeeze: 1x1 to squeeze_channels
//   y = concat of relu(expand1x1(x)) and relu(expand3x3(x)) along the channels
// expand1x1: 1x1 to expand1x1_channels; expand3x3: 3x3 with padding 1 to expand3x3_channels.
// Weights: "squeeze.weight" [squeeze_channels, num_input_features, 1, 1], "squeeze.bias",
// "expand1x1.weight" [expand1x1_channels, squeeze_channels, 1, 1], "expand1x1.bias",
// "expand3x3.weight" [expand3x3_channels, squeeze_channels, 3, 3], "expand3x3.bias".
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, num_input_features = 3, height = 256, width = 256;
  int64_t squeeze_channels = 6, expand1x1_channels = 64, expand3x3_channels = 64;
  KB_FIELDS(batch_size, num_input_features, height, width, squeeze_channels, expand1x1_channels,
            expand3x3_channels)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
