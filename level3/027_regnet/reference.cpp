#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Sequential feature_extractor = stages(net["feature_extractor"], s);
  Linear fc{net["fc"], s.block_widths[2], s.output_classes};

  static Sequential stages(const Scope& net, const Sizes& s) {
    const ConvOptions options = {.padding = 1};
    Sequential all(net);
    int64_t in = s.input_channels;
    for (size_t i = 0; i < s.block_widths.size(); ++i) {
      const int64_t out = s.block_widths[i];
      all.then(Sequential(net[static_cast<int64_t>(i)])
                   .add<Conv2d>(in, out, 3, options)
                   .add<BatchNorm>(out)
                   .then(at::relu)
                   .add<Conv2d>(out, out, 3, options)
                   .add<BatchNorm>(out)
                   .then(at::relu)
                   .then([](const Tensor& x) { return at::max_pool2d(x, 2, 2); }));
      in = out;
    }
    return all;
  }
};

static auto tensors(const Sizes& s) {
  return std::tuple{
      input<real>("x", {s.batch_size, s.input_channels, s.image_height, s.image_width}),
      weights<Network>(s), output<real>("y", {s.batch_size, s.output_classes})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& n) {
  return n.fc(at::mean(n.feature_extractor(x), {2, 3}));
}

Task kb::task() {
  return define<decltype(launch)>("Arch-CNN", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .input_channels = 3,
                                             .image_height = 32,
                                             .image_width = 32,
                                             .block_widths = {8, 16, 32},
                                             .output_classes = 10},
                                   .odd = {.batch_size = 3,
                                           .input_channels = 5,
                                           .image_height = 25,
                                           .image_width = 19,
                                           .block_widths = {7, 9, 11},
                                           .output_classes = 3}});
}
