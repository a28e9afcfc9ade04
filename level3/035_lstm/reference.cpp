#include "task.h"
#include <kb/reference.h>
using namespace kb;
using namespace task;

static std::vector<std::string> layer_names(int64_t layer) {
  const std::string l = "_l" + std::to_string(layer);
  return {"lstm.weight_ih" + l, "lstm.weight_hh" + l, "lstm.bias_ih" + l, "lstm.bias_hh" + l};
}

// Forget gates near 1 let the first steps and c0 reach the output; PyTorch's initialisation forgets
// all but the last few steps, so that skipping the others would pass.
static Fill remembering_bias(int64_t hidden) {
  return [=](Tensor& out, at::Generator& rng) {
    out.normal_(0, 1, rng);
    out.narrow(0, hidden, hidden).add_(3);
  };
}

static auto tensors(const Sizes& s) {
  const int64_t hidden = s.hidden_size;
  const Shape state = {s.num_layers, s.batch_size, hidden};
  WeightTable table;
  auto add = [&](const std::string& name, Shape shape, Fill fill) {
    table.specs.push_back(weight<float>(name, shape).with(fill).upstream(fan_in_uniform(hidden)));
  };
  for (int64_t layer = 0; layer < s.num_layers; ++layer) {
    const auto names = layer_names(layer);
    const int64_t in = layer == 0 ? s.input_size : hidden;
    add(names[0], {4 * hidden, in}, fan_in_normal(in));
    // Small, so that rounding errors do not grow from step to step.
    add(names[1], {4 * hidden, hidden}, fan_in_normal(16 * hidden));
    add(names[2], {4 * hidden}, remembering_bias(hidden));
    add(names[3], {4 * hidden}, remembering_bias(hidden));
  }
  add("fc.weight", {s.output_size, hidden}, fan_in_normal(hidden));
  add("fc.bias", {s.output_size}, normal(0, 0.5));
  return std::tuple{
      input<float>("x", {s.batch_size, s.sequence_length, s.input_size}).with(normal()),
      input<float>("h0", state).with(normal()).upstream(normal()),
      input<float>("c0", state).with(normal()).upstream(normal()), table,
      output<float>("out", {s.batch_size, s.output_size})};
}

// Upstream draws h0 and c0 inside forward() when they are not given; here they always are.
static Tensor reference(const Sizes& s, Tensor x, Tensor h0, Tensor c0, const NamedTensors& w) {
  std::vector<Tensor> weights;
  for (int64_t layer = 0; layer < s.num_layers; ++layer) {
    for (const std::string& name : layer_names(layer)) weights.push_back(w[name]);
  }
  const Tensor steps = std::get<0>(at::lstm(x, {h0, c0}, weights, /*has_biases=*/true, s.num_layers,
                                            /*dropout=*/0.0, /*train=*/true,
                                            /*bidirectional=*/false, /*batch_first=*/true));
  return at::linear(steps.select(1, -1), w["fc.weight"], w["fc.bias"]);
}

// nn.LSTM keeps its weights in one piece on a GPU; else cuDNN's operator would copy them in each
// call.
static void settle(const Sizes& s, const std::vector<Tensor>& weights) {
  if (!weights.front().is_cuda()) return;
  const at::TensorList of_lstm(weights.data(), 4 * s.num_layers);
  at::_cudnn_rnn_flatten_weight(of_lstm, /*per layer*/ 4, s.input_size, /*LSTM*/ 2, s.hidden_size,
                                /*proj_size=*/0, s.num_layers, /*batch_first=*/true,
                                /*bidirectional=*/false);
}

Task kb::task() {
  return define<decltype(launch)>("Arch-Recurrent", tensors, reference,
                                  {.smoke = {2, 8, 12, 16, 3, 10}, .odd = {3, 13, 7, 19, 2, 5}})
      .settling(settle);
}
