// U-Net whose activation is softmax over the width, in training mode: every batch norm uses the
// statistics of its batch.
// x: [batch_size, in_channels, height, width], height and width multiples of 16;
// y: [batch_size, out_channels, height, width]; all tensors row-major. With F = features:
//   e1 = encoder1(x), e2 = encoder2(pool(e1)),      e1 to e4 have F, 2F, 4F and 8F channels; pool:
//   e3 = encoder3(pool(e2)), e4 = encoder4(pool(e3))  maximum of 2x2, stride 2, no padding
//   t = bottleneck(pool(e4))                        to 16F channels
//   t = decoder4(concat(upconv4(t), e4))            to 8F channels; concat: along the channels
//   t = decoder3(concat(upconv3(t), e3))            to 4F channels
//   t = decoder2(concat(upconv2(t), e2))            to 2F channels
//   t = decoder1(concat(upconv1(t), e1))            to F channels
//   y = final_conv(t)                               a convolution of 1x1 to out_channels
// An encoder, a decoder and the bottleneck are double convolutions to their number of channels:
//   x = softmax(double_conv.1(double_conv.0(x)))    .0 and .3: convolutions of 3x3, stride 1,
//   x = softmax(double_conv.4(double_conv.3(x)))    padding 1; .1 and .4: batch norms
// Softmax is taken over each row of pixels: exp(x[n, c, i, j]) / (sum of exp(x[n, c, i, k]) over
// k). Batch norm of a channel: (x - mean) / sqrt(var + 1e-5) * weight + bias, with mean and var
// over batch, height and width, var without Bessel's correction. An upconv halves the channels, C
// to C / 2, and doubles height and width. It is a transposed convolution of 2x2 with stride 2:
//   y[n, o, 2 i + a, 2 j + b] = bias[o] + sum over c of x[n, c, i, j] * weight[c, o, a, b]
//
// Weights: of convolutions [channels of the result, channels, kernel, kernel], of upconvs
// [C, C / 2, 2, 2], of batch norms [channels]; all layers have a bias. Names:
// "encoder1.double_conv.0.weight", "encoder1.double_conv.0.bias", "encoder1.double_conv.1.weight",
// ..., "encoder1.double_conv.4.bias", "encoder2...", ..., "bottleneck.double_conv.0.weight", ...,
// "upconv4.weight", "upconv4.bias", "decoder4.double_conv.0.weight", ..., "upconv3.weight", ...,
// "final_conv.weight", "final_conv.bias".
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 8, in_channels = 8, out_channels = 4, height = 64, width = 512;
  int64_t features = 64;
  KB_FIELDS(batch_size, in_channels, out_channels, height, width, features)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
