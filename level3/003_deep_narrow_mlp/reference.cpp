#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

struct Network {
  Scope net;
  Sizes s;
  Sequential network = layers(net["network"], s);

  static Sequential layers(const Scope& net, const Sizes& s) {
    Sequential all(net);
    int64_t in = s.input_size;
    for (const int64_t out : s.hidden_layer_sizes) {
      all.add<Linear>(in, out).then(at::relu);
      in = out;
    }
    return all.add<Linear>(in, s.output_size);
  }
};

static auto tensors(const Sizes& s) {
  return std::tuple{input<real>("x", {s.batch_size, s.input_size}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.output_size})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& n) { return n.network(x); }

Task kb::task() {
  return define<decltype(launch)>("Arch-MLP", tensors, reference,
                                  {.smoke = {.batch_size = 8,
                                             .input_size = 128,
                                             .hidden_layer_sizes = {32, 32, 32, 32, 32, 32, 32, 32,
                                                                    32, 32, 32, 32, 32, 32, 32, 32},
                                             .output_size = 128},
                                   .odd = {.batch_size = 3,
                                           .input_size = 45,
                                           .hidden_layer_sizes = {33, 17, 21, 35, 19, 40, 23, 31,
                                                                  37, 18, 22, 29, 41, 26, 30, 25},
                                           .output_size = 27}});
}
