#include "task.h"

#include "../architectures/shufflenet.cuh"

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);

  const FeatureMap image = net.input(x, s.batch_size, s.input_channels, s.height, s.width);
  unit(net, "", image, s.groups, net.output(y, s.batch_size, s.out_channels, s.height, s.width));
}
