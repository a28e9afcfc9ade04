// Swin: what its tasks share. Included after task.h.
#pragma once

#include <string>

#include <kb/axis.cuh>
#include <kb/network.cuh>

using kb::Activation;
using kb::FeatureMap;
using kb::real;

// Each patch of an image as one row, in the order of the weights of a convolution.
__global__ void cut_patches(const real* x, int64_t samples, int64_t channels, int64_t image,
                            int64_t patch, real* rows) {
  const int64_t across = image / patch, area = patch * patch, i = kb::Grid::rank();
  if (i >= samples * across * across * channels * area) return;
  const int64_t row = i / (channels * area), channel = i / area % channels;
  const int64_t sample = row / (across * across);
  const int64_t above = row / across % across * patch + i / patch % patch;
  const int64_t left = row % across * patch + i % patch;
  rows[i] = x[((sample * channels + channel) * image + above) * image + left];
}

// Each 2 x 2 tokens as one row.
__global__ void merge_tokens(const real* t, int64_t samples, int64_t edge, int64_t width, real* y) {
  const int64_t i = kb::Grid::rank(), half = edge / 2;
  if (i >= samples * edge * edge * width) return;
  const int64_t row = i / (4 * width), part = i / width % 4;
  const int64_t sample = row / (half * half);
  const int64_t above = row / half % half * 2 + part % 2, left = row % half * 2 + part / 2;
  y[i] = t[((sample * edge + above) * edge + left) * width + i % width];
}

static FeatureMap embed(const kb::Network& net, const task::Sizes& s, const real* x) {
  const int64_t edge = s.image_size / s.patch_size;
  const kb::ProductShape shape = {s.batch_size * edge * edge, s.embed_dim,
                                  s.in_chans * s.patch_size * s.patch_size};
  const FeatureMap rows = net.make(shape.rows, shape.depth), t = net.make(shape.rows, s.embed_dim);
  cut_patches<<<(rows.size() + 255) / 256, 256, 0, net.stream()>>>(
      x, s.batch_size, s.in_chans, s.image_size, s.patch_size, rows.data);
  const kb::BiasActivationResidual<real> add_bias = {net.weight("patch_embed.proj.bias"), nullptr,
                                                     s.embed_dim, Activation::none};
  kb::launch_product(net.stream(), shape, kb::left(static_cast<const real*>(rows.data), shape),
                     kb::right_transposed(net.weight("patch_embed.proj.weight"), shape),
                     kb::store(t.data, shape, add_bias));
  return net.layer_norm("patch_embed.norm", t);
}
