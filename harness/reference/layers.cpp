// Initial values follow PyTorch's reset_parameters() for `compat`; the default ones keep the signal
// alive and make every weight visible.
#include "kb/layers.h"

#include <cmath>
#include <functional>
#include <numeric>

namespace kb {
namespace {

// Elements of all but the first dimension: what PyTorch takes for the number of inputs.
int64_t fan_in(const Shape& shape) {
  return std::accumulate(shape.begin() + 1, shape.end(), int64_t{1}, std::multiplies<>());
}

Parameter bias_of(const Scope& at, bool wanted, int64_t out, const Shape& weight) {
  if (!wanted) return {};
  return at.weight("bias", {out}, normal(0, 0.5), fan_in_uniform(fan_in(weight)));
}

Shape with_kernel(int64_t first, int64_t second, const std::vector<int64_t>& kernel) {
  Shape shape{first, second};
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  return shape;
}

}  // namespace

std::vector<int64_t> Extents::in(int64_t dimensions) const {
  const auto wanted = static_cast<size_t>(dimensions);
  if (values_.size() == 1) return std::vector<int64_t>(wanted, values_[0]);
  TORCH_CHECK(values_.size() == wanted, values_.size(), " extents for ", wanted, " dimensions");
  return values_;
}

// Leading dimensions are folded even where that takes a copy.
Tensor apply_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (x.dim() < 3 || x.is_contiguous()) return at::linear(x, weight, bias);
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = weight.size(0);
  const Tensor y = at::mm(x.reshape({-1, x.size(-1)}), weight.t()).view(shape);
  return bias.defined() ? y.add_(bias) : y;
}

Linear::Linear(const Scope& at, int64_t in, int64_t out, bool with_bias)
    : weight(at.weight("weight", {out, in})), bias(bias_of(at, with_bias, out, {out, in})) {}

template <int Dimensions>
Conv<Dimensions>::Conv(const Scope& at, int64_t in, int64_t out, const Extents& kernel,
                       const ConvOptions& options)
    : stride(options.stride.in(Dimensions)),
      padding(options.padding.in(Dimensions)),
      dilation(options.dilation.in(Dimensions)),
      groups(options.groups) {
  const Shape shape = with_kernel(out, in / groups, kernel.in(Dimensions));
  weight = at.weight("weight", shape);
  bias = bias_of(at, options.bias, out, shape);
}

template <>
Tensor Conv1d::operator()(const Tensor& x) const {
  return at::conv1d(x, weight, *bias, stride, padding, dilation, groups);
}
template <>
Tensor Conv2d::operator()(const Tensor& x) const {
  return at::conv2d(x, weight, *bias, stride, padding, dilation, groups);
}
template <>
Tensor Conv3d::operator()(const Tensor& x) const {
  return at::conv3d(x, weight, *bias, stride, padding, dilation, groups);
}
template struct Conv<1>;
template struct Conv<2>;
template struct Conv<3>;

template <int Dimensions>
ConvTranspose<Dimensions>::ConvTranspose(const Scope& at, int64_t in, int64_t out,
                                         const Extents& kernel, const ConvTransposeOptions& options)
    : stride(options.stride.in(Dimensions)),
      padding(options.padding.in(Dimensions)),
      output_padding(options.output_padding.in(Dimensions)),
      dilation(options.dilation.in(Dimensions)),
      groups(options.groups) {
  const Shape shape = with_kernel(in, out / groups, kernel.in(Dimensions));
  weight = at.weight("weight", shape);
  bias = bias_of(at, options.bias, out, shape);
}

template <>
Tensor ConvTranspose1d::operator()(const Tensor& x) const {
  return at::conv_transpose1d(x, weight, *bias, stride, padding, output_padding, groups, dilation);
}
template <>
Tensor ConvTranspose2d::operator()(const Tensor& x) const {
  return at::conv_transpose2d(x, weight, *bias, stride, padding, output_padding, groups, dilation);
}
template <>
Tensor ConvTranspose3d::operator()(const Tensor& x) const {
  return at::conv_transpose3d(x, weight, *bias, stride, padding, output_padding, groups, dilation);
}
template struct ConvTranspose<1>;
template struct ConvTranspose<2>;
template struct ConvTranspose<3>;

BatchNorm::BatchNorm(const Scope& at, int64_t channels, double eps)
    : weight(at.weight("weight", {channels})),
      bias(at.weight("bias", {channels})),
      running_mean(at.state("running_mean", {channels}, dtype_of<real>, constant(0))),
      running_var(at.state("running_var", {channels}, dtype_of<real>, constant(1))),
      num_batches_tracked(at.state("num_batches_tracked", {}, at::kLong, constant(0))),
      eps(eps) {}

Tensor BatchNorm::operator()(const Tensor& x) const {
  num_batches_tracked->add_(1);
  return at::batch_norm(x, *weight, *bias, *running_mean, *running_var, /*training=*/true,
                        /*momentum=*/0.1, eps, /*cudnn_enabled=*/true);
}

LayerNorm::LayerNorm(const Scope& at, Shape shape, double eps)
    : weight(at.weight("weight", shape, normal(1, 0.25), constant(1))),
      bias(at.weight("bias", shape, normal(0, 0.5), constant(0))),
      shape(std::move(shape)),
      eps(eps) {}

Tensor LayerNorm::operator()(const Tensor& x) const {
  return at::layer_norm(x, shape, *weight, *bias, eps);
}

GroupNorm::GroupNorm(const Scope& at, int64_t groups, int64_t channels, double eps)
    : weight(at.weight("weight", {channels})),
      bias(at.weight("bias", {channels})),
      groups(groups),
      eps(eps) {}

Tensor GroupNorm::operator()(const Tensor& x) const {
  return at::group_norm(x, groups, *weight, *bias, eps);
}

InstanceNorm::InstanceNorm(const Scope& at, int64_t channels, bool affine, double eps) : eps(eps) {
  if (!affine) return;
  weight = at.weight("weight", {channels});
  bias = at.weight("bias", {channels});
}

Tensor InstanceNorm::operator()(const Tensor& x) const {
  return at::instance_norm(x, *weight, *bias, /*running_mean=*/{}, /*running_var=*/{},
                           /*use_input_stats=*/true, /*momentum=*/0.1, eps,
                           /*cudnn_enabled=*/true);
}

Embedding::Embedding(const Scope& at, int64_t count, int64_t width)
    : weight(at.weight("weight", {count, width}, normal(), normal())) {}

namespace {

int64_t gates(RecurrentKind kind) {
  return kind == RecurrentKind::lstm ? 4 : kind == RecurrentKind::gru ? 3 : 1;
}

// Gates that keep most of the state (LSTM's forget gate near 1, GRU's update gate near 1) let the
// first steps and the initial state reach the output. PyTorch's initialisation forgets all but the
// last few steps, so that a kernel which skips the others would pass.
Fill remembering_bias(RecurrentKind kind, int64_t hidden) {
  return [=](Tensor& out, at::Generator& rng) {
    out.normal_(0, kind == RecurrentKind::rnn_tanh ? 0.25 : 1, rng);
    if (kind != RecurrentKind::rnn_tanh) out.narrow(0, hidden, hidden).add_(3);
  };
}

// cuDNN's numbers for its kinds of cells.
int64_t cudnn_mode(RecurrentKind kind) {
  return kind == RecurrentKind::lstm ? 2 : kind == RecurrentKind::gru ? 3 : 1;
}

}  // namespace

Recurrent::Recurrent(RecurrentKind kind, const Scope& at, int64_t in, int64_t hidden,
                     const RecurrentOptions& options)
    : kind(kind), options(options) {
  const int64_t rows = gates(kind) * hidden, directions = options.bidirectional ? 2 : 1;
  const Fill upstream = fan_in_uniform(hidden);
  for (int64_t i = 0; i < options.layers * directions; ++i) {
    const int64_t layer = i / directions, width = layer == 0 ? in : directions * hidden;
    const std::string end = "_l" + std::to_string(layer) + (i % directions == 1 ? "_reverse" : "");
    weights.push_back(at.weight("weight_ih" + end, {rows, width}, fan_in_normal(width), upstream));
    // Small, so that rounding errors do not grow from step to step.
    weights.push_back(
        at.weight("weight_hh" + end, {rows, hidden}, fan_in_normal(16 * hidden), upstream));
    if (!options.bias) continue;
    for (const char* name : {"bias_ih", "bias_hh"}) {
      weights.push_back(at.weight(name + end, {rows}, remembering_bias(kind, hidden), upstream));
    }
  }
  // PyTorch's modules keep their weights in one piece on a GPU; else cuDNN's operator would copy
  // them in each call.
  at.when_settled([kind, options, in, hidden, all = weights] {
    const std::vector<Tensor> of_layer(all.begin(), all.end());
    if (!of_layer.front().is_cuda()) return;
    at::_cudnn_rnn_flatten_weight(of_layer, options.bias ? 4 : 2, in, cudnn_mode(kind), hidden,
                                  /*proj_size=*/0, options.layers, options.batch_first,
                                  options.bidirectional);
  });
}

std::vector<Tensor> Recurrent::tensors() const { return {weights.begin(), weights.end()}; }

std::tuple<Tensor, Tensor> RNN::operator()(const Tensor& x, const Tensor& h0) const {
  return at::rnn_tanh(x, h0, tensors(), options.bias, options.layers, /*dropout=*/0, /*train=*/true,
                      options.bidirectional, options.batch_first);
}

std::tuple<Tensor, Tensor> GRU::operator()(const Tensor& x, const Tensor& h0) const {
  return at::gru(x, h0, tensors(), options.bias, options.layers, /*dropout=*/0, /*train=*/true,
                 options.bidirectional, options.batch_first);
}

std::tuple<Tensor, Tensor, Tensor> LSTM::operator()(const Tensor& x, const Tensor& h0,
                                                    const Tensor& c0) const {
  return at::lstm(x, {h0, c0}, tensors(), options.bias, options.layers, /*dropout=*/0,
                  /*train=*/true, options.bidirectional, options.batch_first);
}

MultiheadAttention::MultiheadAttention(const Scope& at, int64_t embed, int64_t heads,
                                       const MultiheadAttentionOptions& options)
    // PyTorch draws in_proj_weight by Xavier's rule and sets both biases to 0.
    : in_proj_weight(at.weight("in_proj_weight", {3 * embed, embed}, fan_in_normal(embed),
                               uniform(-std::sqrt(1.5 / static_cast<double>(embed)),
                                       std::sqrt(1.5 / static_cast<double>(embed))))),
      in_proj_bias(at.weight("in_proj_bias", {3 * embed}, normal(0, 0.5), constant(0))),
      out_proj(at["out_proj"], embed, embed, /*with_bias=*/false),
      heads(heads),
      options(options) {
  out_proj.bias = at["out_proj"].weight("bias", {embed}, normal(0, 0.5), constant(0));
}

Tensor MultiheadAttention::operator()(Tensor query, Tensor key, Tensor value,
                                      const Tensor& mask) const {
  if (options.batch_first) {
    const bool same_key = key.is_same(query), same_value = value.is_same(key);
    query = query.transpose(1, 0);
    key = same_key ? query : key.transpose(1, 0);
    value = same_value ? key : value.transpose(1, 0);
  }
  const int64_t steps = query.size(0), batch = query.size(1), embed = query.size(2);
  const int64_t key_steps = key.size(0), width = embed / heads;
  Tensor q, k, v;
  if (key.is_same(query) && value.is_same(key)) {
    // One product for all three, as PyTorch does for self-attention.
    const Tensor all = apply_linear(query, in_proj_weight, in_proj_bias)
                           .unflatten(-1, {3, embed})
                           .unsqueeze(0)
                           .transpose(0, -2)
                           .squeeze(-2)
                           .contiguous();
    q = all[0], k = all[1], v = all[2];
  } else {
    const std::vector<Tensor> w = in_proj_weight->chunk(3), b = in_proj_bias->chunk(3);
    q = apply_linear(query, w[0], b[0]);
    k = apply_linear(key, w[1], b[1]);
    v = apply_linear(value, w[2], b[2]);
  }
  q = q.view({steps, batch * heads, width}).transpose(0, 1);
  k = k.view({key_steps, batch * heads, width}).transpose(0, 1);
  v = v.view({key_steps, batch * heads, width}).transpose(0, 1);
  Tensor out, attention;
  if (options.need_weights) {
    q = q * std::sqrt(1.0 / static_cast<double>(width));
    const Tensor keys = k.transpose(-2, -1);
    const Tensor scores = mask.defined() ? at::baddbmm(mask, q, keys) : at::bmm(q, keys);
    attention = at::softmax(scores, -1);
    out = at::bmm(attention, v).transpose(0, 1);
  } else {
    out = at::scaled_dot_product_attention(q.view({batch, heads, steps, width}),
                                           k.view({batch, heads, key_steps, width}),
                                           v.view({batch, heads, key_steps, width}),
                                           mask.defined() ? std::optional(mask) : std::nullopt)
              .permute({2, 0, 1, 3});
  }
  out = out_proj(out.contiguous().view({steps * batch, embed})).view({steps, batch, embed});
  if (options.need_weights) attention.view({batch, heads, steps, key_steps}).mean(1);
  return options.batch_first ? out.transpose(1, 0) : out;
}

}  // namespace kb
