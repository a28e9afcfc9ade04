#include "task.h"

#include <kb/network.cuh>

using kb::FeatureMap;

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);
  const FeatureMap image = net.input(x, s.batch_size, s.in_channels, s.height, s.width);
  const int64_t in3x3 = s.out_1x1, in5x5 = in3x3 + s.out_3x3, in_pool = in5x5 + s.out_5x5;
  const FeatureMap all = net.output(y, s.batch_size, in_pool + s.pool_proj, s.height, s.width);
  net.conv_to(all.slice(0, s.out_1x1), "branch1x1", image);
  net.conv_to(all.slice(in3x3, s.out_3x3), "branch3x3.1", net.conv("branch3x3.0", image), {1, 1});
  net.conv_to(all.slice(in5x5, s.out_5x5), "branch5x5.1", net.conv("branch5x5.0", image), {1, 2});
  net.conv_to(all.slice(in_pool, s.pool_proj), "branch_pool.1", net.max_pool(image, {3, 1, 1}));
}
