// Layers against LibTorch's own modules: the same names and shapes, the same outputs.
#include "kb/layers.h"

#include <gtest/gtest.h>
#include <torch/nn.h>

#include "kb/model.h"
#include "kb/reference.h"

namespace kb {
namespace {

// A layer with weights that a module of torch::nn has.
template <class Layer>
class Filled {
 public:
  template <class Module, class... Args>
  explicit Filled(const Module& module, Args&&... args)
      : layer(Scope(declaration_), std::forward<Args>(args)...) {
    const auto state = [&] {
      auto all = module->named_parameters();
      for (const auto& buffer : module->named_buffers()) all.insert(buffer.key(), buffer.value());
      return all;
    }();
    EXPECT_EQ(state.size(), declaration_.specs().size());
    for (const TensorSpec& spec : declaration_.specs()) {
      const Tensor* value = state.find(spec.name);
      if (value == nullptr) {
        ADD_FAILURE() << "torch::nn has no " << spec.name;
        continue;
      }
      EXPECT_EQ(value->sizes().vec(), spec.shape) << spec.name;
      EXPECT_EQ(value->scalar_type(), spec.dtype) << spec.name;
      if (spec.role == Role::weight) weights_.push_back(value->detach());
    }
    declaration_.bind(weights_.data());
  }

 private:
  Declaration declaration_;
  std::vector<Tensor> weights_;

 public:
  Layer layer;
};

class Layers : public testing::Test {
 protected:
  Layers() { at::manual_seed(1); }
  static void expect_same(const Tensor& ours, const Tensor& theirs) {
    ASSERT_EQ(ours.sizes(), theirs.sizes());
    EXPECT_TRUE(at::allclose(ours, theirs, 1e-5, 1e-6))
        << (ours - theirs).abs().max().item<float>();
  }
  at::NoGradGuard no_grad_;
};

TEST_F(Layers, Linear) {
  const torch::nn::Linear module(5, 7);
  const Filled<Linear> ours(module, 5, 7);
  const Tensor x = at::randn({3, 5});
  expect_same(ours.layer(x), torch::nn::Linear(module)->forward(x));
  const torch::nn::Linear plain(torch::nn::LinearOptions(5, 7).bias(false));
  expect_same(Filled<Linear>(plain, 5, 7, false).layer(x), torch::nn::Linear(plain)->forward(x));
}

// torch.nn's weights require gradients, so that at::matmul folds what it would else broadcast.
TEST_F(Layers, LinearOfWhatIsNotContiguous) {
  const torch::nn::Linear module(5, 7);
  const Filled<Linear> ours(module, 5, 7);
  const Tensor x = at::randn({5, 4, 3}).permute({2, 1, 0});
  expect_same(ours.layer(x), torch::nn::Linear(module)->forward(x));
  expect_same(apply_linear(x, module->weight.detach(), {}), at::linear(x, module->weight));
}

TEST_F(Layers, Convolutions) {
  torch::nn::Conv1d one(torch::nn::Conv1dOptions(4, 6, 3).stride(2).padding(1).bias(false));
  const Filled<Conv1d> ours1(one, 4, 6, 3, ConvOptions{.stride = 2, .padding = 1, .bias = false});
  Tensor x = at::randn({2, 4, 11});
  expect_same(ours1.layer(x), one->forward(x));
  torch::nn::Conv2d two(
      torch::nn::Conv2dOptions(4, 6, {3, 5}).padding({1, 2}).dilation({2, 1}).groups(2));
  const Filled<Conv2d> ours2(two, 4, 6, Extents{3, 5},
                             ConvOptions{.padding = {1, 2}, .dilation = {2, 1}, .groups = 2});
  x = at::randn({2, 4, 9, 12});
  expect_same(ours2.layer(x), two->forward(x));
  torch::nn::Conv3d three(torch::nn::Conv3dOptions(2, 3, 2));
  const Filled<Conv3d> ours3(three, 2, 3, 2);
  x = at::randn({1, 2, 5, 6, 7});
  expect_same(ours3.layer(x), three->forward(x));
}

TEST_F(Layers, TransposedConvolutions) {
  torch::nn::ConvTranspose1d one(torch::nn::ConvTranspose1dOptions(4, 6, 3).stride(2));
  const Filled<ConvTranspose1d> ours1(one, 4, 6, 3, ConvTransposeOptions{.stride = 2});
  Tensor x = at::randn({2, 4, 11});
  expect_same(ours1.layer(x), one->forward(x));
  torch::nn::ConvTranspose2d two(torch::nn::ConvTranspose2dOptions(4, 6, {3, 2})
                                     .stride({2, 3})
                                     .padding(1)
                                     .output_padding({1, 2})
                                     .groups(2)
                                     .dilation(2)
                                     .bias(false));
  const Filled<ConvTranspose2d> ours2(two, 4, 6, Extents{3, 2},
                                      ConvTransposeOptions{.stride = {2, 3},
                                                           .padding = 1,
                                                           .output_padding = {1, 2},
                                                           .dilation = 2,
                                                           .groups = 2,
                                                           .bias = false});
  x = at::randn({2, 4, 5, 6});
  expect_same(ours2.layer(x), two->forward(x));
  torch::nn::ConvTranspose3d three(torch::nn::ConvTranspose3dOptions(2, 3, 2));
  const Filled<ConvTranspose3d> ours3(three, 2, 3, 2);
  x = at::randn({1, 2, 3, 4, 5});
  expect_same(ours3.layer(x), three->forward(x));
}

TEST_F(Layers, Norms) {
  const Tensor x = at::randn({3, 6, 4, 5}) * 2 + 1;
  torch::nn::BatchNorm2d batch(6);
  expect_same(Filled<BatchNorm>(batch, 6).layer(x), batch->forward(x));
  torch::nn::GroupNorm group(torch::nn::GroupNormOptions(3, 6));
  expect_same(Filled<GroupNorm>(group, 3, 6).layer(x), group->forward(x));
  torch::nn::LayerNorm layer(torch::nn::LayerNormOptions({4, 5}));
  expect_same(Filled<LayerNorm>(layer, Shape{4, 5}).layer(x), layer->forward(x));
  torch::nn::InstanceNorm2d plain(6);
  expect_same(Filled<InstanceNorm>(plain, 6).layer(x), plain->forward(x));
  torch::nn::InstanceNorm2d affine(torch::nn::InstanceNormOptions(6).affine(true));
  expect_same(Filled<InstanceNorm>(affine, 6, true).layer(x), affine->forward(x));
}

// As nn.BatchNorm2d does in training mode: no result depends on them, but each call updates them.
TEST_F(Layers, BatchNormUpdatesItsStatistics) {
  const Tensor x = at::randn({3, 6, 4, 5}) * 2 + 1;
  torch::nn::BatchNorm2d module(6);
  const Filled<BatchNorm> ours(module, 6);
  const Tensor first = ours.layer(x);
  EXPECT_TRUE(ours.layer(x).equal(first));
  for (int call = 0; call < 2; ++call) module->forward(x);
  expect_same(ours.layer.running_mean, module->running_mean);
  expect_same(ours.layer.running_var, module->running_var);
  EXPECT_EQ(ours.layer.num_batches_tracked->item<int64_t>(), 2);
}

TEST_F(Layers, Embedding) {
  torch::nn::Embedding module(9, 4);
  const Tensor indices = at::randint(9, {2, 3}, at::kLong);
  expect_same(Filled<Embedding>(module, 9, 4).layer(indices), module->forward(indices));
}

TEST_F(Layers, Recurrent) {
  const Tensor x = at::randn({2, 7, 3}), h0 = at::randn({4, 2, 5}), c0 = at::randn({4, 2, 5});
  const RecurrentOptions options{.layers = 2, .batch_first = true, .bidirectional = true};
  torch::nn::LSTM lstm(
      torch::nn::LSTMOptions(3, 5).num_layers(2).batch_first(true).bidirectional(true));
  const auto [out, h, c] = Filled<LSTM>(lstm, 3, 5, options).layer(x, h0, c0);
  const auto [their_out, state] = lstm->forward(x, std::tuple{h0, c0});
  expect_same(out, their_out);
  expect_same(h, std::get<0>(state));
  expect_same(c, std::get<1>(state));
  torch::nn::GRU gru(
      torch::nn::GRUOptions(3, 5).num_layers(2).batch_first(true).bidirectional(true));
  expect_same(std::get<0>(Filled<GRU>(gru, 3, 5, options).layer(x, h0)),
              std::get<0>(gru->forward(x, h0)));
  torch::nn::RNN rnn(torch::nn::RNNOptions(3, 5).bias(false));
  const Tensor start = at::randn({1, 7, 5});
  expect_same(std::get<1>(Filled<RNN>(rnn, 3, 5, RecurrentOptions{.bias = false}).layer(x, start)),
              std::get<1>(rnn->forward(x, start)));
}

TEST_F(Layers, MultiheadAttention) {
  torch::nn::MultiheadAttention module(12, 3);
  for (auto& parameter : module->named_parameters()) parameter.value().normal_(0, 0.3);
  const Tensor x = at::randn({5, 2, 12}), memory = at::randn({7, 2, 12});
  const Filled<MultiheadAttention> ours(module, 12, 3);
  expect_same(ours.layer(x, x, x), std::get<0>(module->forward(x, x, x)));
  expect_same(ours.layer(x, memory, memory), std::get<0>(module->forward(x, memory, memory)));
  const Tensor mask = at::zeros({5, 5}).masked_fill(at::ones({5, 5}).triu(1).to(at::kBool),
                                                    -std::numeric_limits<float>::infinity());
  expect_same(ours.layer(x, x, x, mask), std::get<0>(module->forward(x, x, x, {}, true, mask)));
  const Tensor first = x.transpose(0, 1);
  const Filled<MultiheadAttention> turned(module, 12, 3,
                                          MultiheadAttentionOptions{.batch_first = true});
  expect_same(turned.layer(first, first, first), ours.layer(x, x, x).transpose(0, 1));
  const Filled<MultiheadAttention> fused(module, 12, 3,
                                         MultiheadAttentionOptions{.need_weights = false});
  expect_same(fused.layer(x, x, x), ours.layer(x, x, x));
  expect_same(fused.layer(x, memory, memory), ours.layer(x, memory, memory));
  expect_same(fused.layer(x, x, x, mask), ours.layer(x, x, x, mask));
}

TEST_F(Layers, BiasesOfMultiheadAttentionStartAtZeroAsUpstream) {
  Declaration all;
  const MultiheadAttention layer(Scope(all), 12, 3);
  for (const TensorSpec& spec : all.specs()) {
    if (!spec.name.ends_with("bias")) continue;
    Tensor values = at::ones(spec.shape);
    at::Generator rng = at::detail::createCPUGenerator();
    spec.compat(values, rng);
    EXPECT_TRUE(at::equal(values, at::zeros(spec.shape))) << spec.name;
  }
}

TEST_F(Layers, SequentialNumbersWhatHasNoWeights) {
  torch::nn::Sequential module(torch::nn::Linear(3, 4), torch::nn::ReLU(), torch::nn::Linear(4, 2));
  struct Net {
    Scope net;
    Sequential layers{net};
    explicit Net(const Scope& at) : net(at) {
      layers.add<Linear>(3, 4).then([](const Tensor& x) { return at::relu(x); }).add<Linear>(4, 2);
    }
    Tensor operator()(const Tensor& x) const { return layers(x); }
  };
  const Tensor x = at::randn({5, 3});
  expect_same(Filled<Net>(module).layer(x), module->forward(x));
  Declaration none;
  EXPECT_TRUE(Sequential(Scope(none))(x).is_same(x));
}

TEST_F(Layers, ExtentsOfAnotherRankAreRefused) {
  EXPECT_EQ(Extents(3).in(2), (std::vector<int64_t>{3, 3}));
  EXPECT_EQ((Extents{3, 5}.in(2)), (std::vector<int64_t>{3, 5}));
  EXPECT_THROW((Extents{3, 5}.in(3)), c10::Error);
}

struct WithState {
  Scope net;
  Linear layer{net["layer"], 3, 2}, useless{net["useless"].without_effect(), 2, 5};
  Parameter index = net.state("index", {2}, at::kLong, constant(7));
  Parameter kept = net.attribute({3}, dtype_of<real>, constant(0.5));
};

TEST(State, IsUnreadAndNoWeight) {
  Declaration all;
  const WithState layers{Scope(all)};
  EXPECT_EQ(all.count(), 2);
  std::vector<std::string> unread;
  for (const TensorSpec& spec : all.specs()) {
    if (spec.role == Role::unread) unread.push_back(spec.name);
  }
  EXPECT_EQ(unread, (std::vector<std::string>{"useless.weight", "useless.bias", "index"}));
}

// A graph that was recorded goes on using what it was recorded with.
TEST(State, IsMadeOncePerTypeAndKept) {
  Declaration all;
  const WithState layers{Scope(all)};
  const std::vector<Tensor> weights{at::ones({2, 3}), at::ones({2})};
  const std::vector<Tensor> exact{weights[0].to(at::kDouble), weights[1].to(at::kDouble)};
  all.bind(weights.data());
  const Tensor kept = *layers.kept;
  EXPECT_TRUE(kept.equal(at::full({3}, 0.5)));
  EXPECT_EQ(layers.index->scalar_type(), at::kLong);
  EXPECT_GT(layers.useless.weight->std().item<float>(), 0.1);
  all.bind(exact.data());
  EXPECT_EQ(layers.kept->scalar_type(), at::kDouble);
  all.bind(weights.data());
  EXPECT_TRUE(layers.kept->is_same(kept));
}

TEST(State, MadeInInferenceModeCanBeWrittenToOutsideIt) {
  Declaration all;
  const WithState layers{Scope(all)};
  const std::vector<Tensor> weights{at::ones({2, 3}), at::ones({2})};
  {
    const c10::InferenceMode on;
    all.bind(weights.data());
  }
  layers.kept->add_(1);
  EXPECT_TRUE(layers.kept->equal(at::full({3}, 1.5)));
}

struct Sizes {
  int64_t width = 4;
  KB_FIELDS(width)
};
struct Network {
  Scope net;
  Sizes s;
  Linear up{net["up"], s.width, 2 * s.width};
  Linear down{net["down"], 2 * s.width, s.width, false};
};
using LaunchPointers = void(const Sizes&, const float* x, const float* up_weight,
                            const float* up_bias, const float* down_weight, float* y, cudaStream_t);
using LaunchTable = void(const Sizes&, const float* x, const Weights&, float* y, cudaStream_t);
using LaunchTwo = void(const Sizes&, const float* x, const float* up, const float* down, float* y,
                       cudaStream_t);

template <class Launch>
Task network() {
  return define<Launch>(
      "none",
      [](const Sizes& s) {
        return std::tuple{input<float>("x", {3, s.width}), weights<Network>(s),
                          output<float>("y", {3, s.width})};
      },
      [](const Sizes&, const Tensor& x, const Network& n) { return n.down(at::relu(n.up(x))); },
      SizeSets<Sizes>{.smoke = {2}, .odd = {5}});
}

TEST(Network, TakesItsWeightsAsOneTableOrAsOnePointerEach) {
  EXPECT_TRUE(network<LaunchTable>().weight_table);
  EXPECT_FALSE(network<LaunchPointers>().weight_table);
  EXPECT_THROW(network<LaunchTwo>(), c10::Error) << "it has three";
}

TEST(Network, ComputesWithTheWeightsOfEachCallAtAnySizes) {
  const Task task = network<LaunchPointers>();
  for (const SizeBytes& sizes : {task.smoke, task.odd, task.smoke}) {
    for (const uint64_t seed : {1, 2}) {
      const std::vector<Tensor> given = task.example(sizes, at::kCPU, seed);
      ASSERT_EQ(given.size(), 4);
      const Tensor right = at::linear(at::relu(at::linear(given[0], given[1], given[2])), given[3]);
      EXPECT_TRUE(task.reference(sizes, given).at(0).equal(right));
    }
  }
  std::vector<std::string> names;
  for (const TensorSpec& spec : task.tensors(task.full)) names.push_back(spec.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "up.weight", "up.bias", "down.weight", "y"}));
}

}  // namespace
}  // namespace kb
