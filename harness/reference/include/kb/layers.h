// Layers of torch.nn for references: each declares its weights under upstream's names when it is
// made, and is called like a function. Every layer is upstream's operators on ATen in upstream's
// order, those included whose result nobody needs, and nothing cleverer; upstream's modules are in
// training mode, and so are these.
//
// A block of a network is a struct whose first members say where it is and how large; then come its
// layers, in the order in which upstream registers them, and operator() is upstream's forward():
//
//   struct Block {
//     Scope at;
//     int64_t width;
//     Linear up{at["up"], width, 4 * width};
//     Linear down{at["down"], 4 * width, width};
//     Tensor operator()(const Tensor& x) const { return x + down(at::relu(up(x))); }
//   };
//
// All shapes are (N, channels, ...) as in torch.nn unless a layer says otherwise. What is wrong
// with shapes is ATen's to say: @throws c10::Error.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kb/model.h"

namespace kb {

/// One number for all dimensions, or one for each: `3`, `{3, 5}`.
class Extents {
 public:
  Extents(int64_t all) : values_{all} {}
  Extents(std::initializer_list<int64_t> each) : values_(each) {}
  template <size_t N>
  Extents(const std::array<int64_t, N>& each) : values_(each.begin(), each.end()) {}
  /// One for each of the dimensions. @throws c10::Error if there are neither one nor that many
  std::vector<int64_t> in(int64_t dimensions) const;

 private:
  std::vector<int64_t> values_;
};

/// Activations with inplace=True, of results that nothing else reads.
inline Tensor relu_(const Tensor& x) { return x.relu_(); }
inline Tensor relu6_(Tensor x) { return at::relu6_(x); }

/// F.linear, as it is for weights that require gradients, like torch.nn's: those decide which
/// products LibTorch calls, also where no gradients are recorded.
Tensor apply_linear(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// y = x * transpose(weight) + bias; x: [..., in], weight: [out, in], bias: [out].
struct Linear {
  Parameter weight, bias;
  Linear(const Scope& at, int64_t in, int64_t out, bool with_bias = true);
  Tensor operator()(const Tensor& x) const { return apply_linear(x, weight, bias); }
};

struct ConvOptions {
  Extents stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;
  bool bias = true;
};

/// nn.Conv1d, 2d, 3d. weight: [out, in / groups, kernel...], bias: [out].
template <int Dimensions>
struct Conv {
  Parameter weight, bias;
  std::vector<int64_t> stride, padding, dilation;
  int64_t groups;
  Conv(const Scope& at, int64_t in, int64_t out, const Extents& kernel,
       const ConvOptions& options = {});
  Tensor operator()(const Tensor& x) const;
};
using Conv1d = Conv<1>;
using Conv2d = Conv<2>;
using Conv3d = Conv<3>;

struct ConvTransposeOptions {
  Extents stride = 1, padding = 0, output_padding = 0, dilation = 1;
  int64_t groups = 1;
  bool bias = true;
};

/// nn.ConvTranspose1d, 2d, 3d. weight: [in, out / groups, kernel...], bias: [out].
template <int Dimensions>
struct ConvTranspose {
  Parameter weight, bias;
  std::vector<int64_t> stride, padding, output_padding, dilation;
  int64_t groups;
  ConvTranspose(const Scope& at, int64_t in, int64_t out, const Extents& kernel,
                const ConvTransposeOptions& options = {});
  Tensor operator()(const Tensor& x) const;
};
using ConvTranspose1d = ConvTranspose<1>;
using ConvTranspose2d = ConvTranspose<2>;
using ConvTranspose3d = ConvTranspose<3>;

/// nn.BatchNorm1d, 2d, 3d with the statistics of the batch, over all but dimension 1; the variance
/// without Bessel's correction. Running statistics and the counter of batches are updated, as
/// upstream's are; no result depends on them.
struct BatchNorm {
  Parameter weight, bias, running_mean, running_var, num_batches_tracked;
  double eps;
  BatchNorm(const Scope& at, int64_t channels, double eps = 1e-5);
  Tensor operator()(const Tensor& x) const;
};

/// nn.LayerNorm over the last dimensions, whose sizes are `shape`.
struct LayerNorm {
  Parameter weight, bias;
  Shape shape;
  double eps;
  LayerNorm(const Scope& at, Shape shape, double eps = 1e-5);
  Tensor operator()(const Tensor& x) const;
};

/// nn.GroupNorm: statistics over each group of channels of a sample.
struct GroupNorm {
  Parameter weight, bias;
  int64_t groups;
  double eps;
  GroupNorm(const Scope& at, int64_t groups, int64_t channels, double eps = 1e-5);
  Tensor operator()(const Tensor& x) const;
};

/// nn.InstanceNorm1d, 2d, 3d: statistics over each channel of a sample. Without weights unless
/// `affine`, as in PyTorch.
struct InstanceNorm {
  Parameter weight, bias;
  double eps;
  InstanceNorm(const Scope& at, int64_t channels, bool affine = false, double eps = 1e-5);
  Tensor operator()(const Tensor& x) const;
};

/// nn.Embedding: rows of weight [count, width] by indices of any shape.
struct Embedding {
  Parameter weight;
  Embedding(const Scope& at, int64_t count, int64_t width);
  Tensor operator()(const Tensor& indices) const { return at::embedding(weight, indices); }
};

enum class RecurrentKind { rnn_tanh, lstm, gru };

struct RecurrentOptions {
  int64_t layers = 1;
  bool bias = true, batch_first = false, bidirectional = false;
};

/// nn.RNN, nn.LSTM and nn.GRU without dropout. x: [steps, N, in] ([N, steps, in] where
/// batch_first), initial states: [layers * directions, N, hidden].
struct Recurrent {
  RecurrentKind kind;
  RecurrentOptions options;
  std::vector<Parameter> weights;  ///< of each layer and direction: ih, hh, then both biases
  Recurrent(RecurrentKind kind, const Scope& at, int64_t in, int64_t hidden,
            const RecurrentOptions& options);

 protected:
  std::vector<Tensor> tensors() const;
};

struct RNN : Recurrent {
  RNN(const Scope& at, int64_t in, int64_t hidden, const RecurrentOptions& options = {})
      : Recurrent(RecurrentKind::rnn_tanh, at, in, hidden, options) {}
  /// @return outputs of the last layer at all steps, last states
  std::tuple<Tensor, Tensor> operator()(const Tensor& x, const Tensor& h0) const;
};

struct GRU : Recurrent {
  GRU(const Scope& at, int64_t in, int64_t hidden, const RecurrentOptions& options = {})
      : Recurrent(RecurrentKind::gru, at, in, hidden, options) {}
  /// @return outputs of the last layer at all steps, last states
  std::tuple<Tensor, Tensor> operator()(const Tensor& x, const Tensor& h0) const;
};

struct LSTM : Recurrent {
  LSTM(const Scope& at, int64_t in, int64_t hidden, const RecurrentOptions& options = {})
      : Recurrent(RecurrentKind::lstm, at, in, hidden, options) {}
  /// @return outputs of the last layer at all steps, last hidden states, last cell states
  std::tuple<Tensor, Tensor, Tensor> operator()(const Tensor& x, const Tensor& h0,
                                                const Tensor& c0) const;
};

struct MultiheadAttentionOptions {
  bool batch_first = false;
  /// forward()'s: with it, PyTorch computes the scores and their mean over the heads; without it,
  /// it calls scaled_dot_product_attention, as nn.TransformerEncoderLayer does.
  bool need_weights = true;
};

/// nn.MultiheadAttention in training mode without dropout. query: [steps, N, embed] ([N, steps,
/// embed] where batch_first), key and value likewise.
struct MultiheadAttention {
  Parameter in_proj_weight, in_proj_bias;
  Linear out_proj;
  int64_t heads;
  MultiheadAttentionOptions options;
  MultiheadAttention(const Scope& at, int64_t embed, int64_t heads,
                     const MultiheadAttentionOptions& options = {});
  /// @param mask undefined, or [steps, steps] of key that is added to the scores
  /// @return the outputs; upstream's second result, the mean of the weights, no task returns
  Tensor operator()(Tensor query, Tensor key, Tensor value, const Tensor& mask = {}) const;
};

/// nn.Sequential: layers under the names "0", "1", ..., one after the other. What has no weights
/// takes a number, too. Without layers it is the identity.
class Sequential {
 public:
  explicit Sequential(const Scope& at) : at_(at) {}

  /// Makes Layer{scope, args...} the next one.
  template <class Layer, class... Args>
  Sequential& add(const Args&... args) {
    return then(Layer{at_[next()], args...});
  }
  /// Makes an operator without weights the next one, such as at::relu.
  template <class Operator>
  Sequential& then(Operator op) {
    layers_.emplace_back(std::move(op));
    return *this;
  }
  Tensor operator()(Tensor x) const {
    for (const auto& layer : layers_) x = layer(x);
    return x;
  }

 private:
  int64_t next() const { return static_cast<int64_t>(layers_.size()); }

  Scope at_;
  std::vector<std::function<Tensor(const Tensor&)>> layers_;
};

/// nn.ModuleList: Block{scope, args...} under the names "0", "1", ..., `count` times.
template <class Block, class... Args>
std::vector<Block> repeat(const Scope& at, int64_t count, const Args&... args) {
  std::vector<Block> blocks;
  for (int64_t i = 0; i < count; ++i) blocks.push_back(Block{at[i], args...});
  return blocks;
}

}  // namespace kb
