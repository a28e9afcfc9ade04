// Layers for kernels of whole networks: feature maps in memory of the stream's pool, and launches
// that find their weights by the layer's name. Nothing waits for the device, so that launches can
// be recorded as a graph.
//
//   kb::Network net(weights, stream);
//   kb::FeatureMap t = net.conv("conv1", net.input(x, n, 3, height, width), {2, 3});
//   net.batch_norm("bn1", t, kb::Activation::relu);
//   t = net.max_pool(t, {3, 2, 1});
//   net.linear_to(net.output(y, n, classes), "fc", net.mean_pool(t));
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <kb/contract.h>

#include "conv.cuh"
#include "depthwise.cuh"
#include "map.cuh"
#include "moments.cuh"
#include "pool.cuh"
#include "product.cuh"

namespace kb {

enum class Activation { none, relu, relu6, sigmoid, tanh, silu, gelu, gelu_tanh };

/// NaN stays NaN.
__device__ inline float activate(Activation kind, float v) {
  switch (kind) {
    case Activation::relu:
      return v < 0 ? 0 : v;
    case Activation::relu6:
      return clamp(v, 0, 6);
    case Activation::sigmoid:
      return 1 / (1 + expf(-v));
    case Activation::tanh:
      return tanhf(v);
    case Activation::silu:
      return v / (1 + expf(-v));
    case Activation::gelu:
      return v / 2 * (1 + erff(v * 0.70710678f));
    case Activation::gelu_tanh:
      return v / 2 * (1 + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
    default:
      return v;
  }
}

/// The same out of line, for where it stands many times.
__device__ __noinline__ inline float activate_elsewhere(Activation kind, float v) {
  return activate(kind, v);
}

/// An activation that the compiler knows to be this one.
template <Activation kind>
struct KnownActivation {};
template <Activation kind>
__device__ float activate(KnownActivation<kind>, float v) {
  return activate(kind, v);
}

/// One that is long enough to be called.
struct CalledActivation {
  Activation kind;
};
__device__ inline float activate(CalledActivation called, float v) {
  return activate_elsewhere(called.kind, v);
}

/// Calls use() with the activation as one of these.
template <class Use>
__device__ void decide_activation(Activation kind, Use use) {
  switch (kind) {
    case Activation::none:
      return use(KnownActivation<Activation::none>{});
    case Activation::relu:
      return use(KnownActivation<Activation::relu>{});
    default:
      return use(CalledActivation{kind});
  }
}

/// [samples, channels, height, width] on the device, row-major; the rows of a matrix are samples of
/// one pixel. Copies share the memory, which goes back to the stream's pool with the last of them.
template <class T>
struct FeatureMapOf {
  T* data = nullptr;
  int64_t samples = 0, channels = 0, height = 1, width = 1;
  int64_t sample_stride = 0;  ///< elements from one sample to the next
  std::shared_ptr<void> memory{};

  int64_t area() const { return height * width; }
  int64_t size() const { return samples * channels * area(); }
  bool has_gaps() const { return samples > 1 && sample_stride != channels * area(); }

  /// Some of the channels, in the same memory.
  FeatureMapOf slice(int64_t first, int64_t count) const {
    FeatureMapOf part = *this;
    part.data += first * area();
    part.channels = count;
    return part;
  }
  /// [samples, channels * height * width], in the same memory.
  FeatureMapOf flat() const {
    FeatureMapOf rows = *this;
    rows.channels *= area();
    rows.height = rows.width = 1;
    return rows;
  }
};

using FeatureMap = FeatureMapOf<real>;

// ---------------------------------------------------------------------------------------------
// What happens to a result before it is stored

/// Result of a convolution: y[sample, channel, pixel] = activation(value + bias[channel]).
template <class T, class Kind = Activation>
struct StoreFeatures {
  T* y;
  int64_t sample_stride, area;
  const T* bias;  ///< or nullptr
  Kind activation;

  template <class Use>
  __device__ void decided(Use use) const {
    decide_activation(activation, [&](auto known) {
      use(StoreFeatures<T, decltype(known)>{y, sample_stride, area, bias, known});
    });
  }
  __device__ void operator()(float value, int64_t sample, int64_t channel, int64_t pixel) const {
    if (bias != nullptr) value += static_cast<float>(bias[channel]);
    y[sample * sample_stride + channel * area + pixel] =
        static_cast<T>(activate(activation, value));
  }
};

/// Epilogue of a depthwise convolution: the same.
template <class T>
struct BiasActivation {
  const T* bias;  ///< or nullptr
  Activation activation;
  __device__ float operator()(float value, int64_t, int64_t channel, int64_t) const {
    if (bias != nullptr) value += static_cast<float>(bias[channel]);
    return activate(activation, value);
  }
};

/// Epilogue of a linear layer: activation(value + bias[column]) + residual[row, column].
template <class T, class Kind = Activation>
struct BiasActivationResidual {
  const T* bias;      ///< or nullptr
  const T* residual;  ///< or nullptr
  int64_t width;
  Kind activation;

  template <class Use>
  __device__ void decided(Use use) const {
    decide_activation(activation, [&](auto known) {
      use(BiasActivationResidual<T, decltype(known)>{bias, residual, width, known});
    });
  }
  __device__ float operator()(float value, int64_t, int64_t row, int64_t column) const {
    if (bias != nullptr) value += static_cast<float>(bias[column]);
    value = activate(activation, value);
    if (residual != nullptr) value += static_cast<float>(residual[row * width + column]);
    return value;
  }
};

// ---------------------------------------------------------------------------------------------
// Kernels over planes: a plane is one channel of one sample

/// Block i measures plane i.
template <class T>
__global__ void measure_planes(const T* x, int64_t channels, int64_t area, int64_t sample_stride,
                               Moments* moments) {
  x += blockIdx.x / channels * sample_stride + blockIdx.x % channels * area;
  const Moments m = reduce(Block{}, area, OnlineMoments{}, Same{}, x);
  if (threadIdx.x == 0) moments[blockIdx.x] = m;
}

template <class T>
struct Normalise {
  const T *weight, *bias;
  const T* residual;  ///< a map without gaps, or nullptr
  float eps;
  Activation activation;
};

/// The blocks (i, j) normalise plane i by the moments of its channel in all samples:
/// y = activation(normalised x + residual).
template <class T>
__global__ void normalise_planes(const T* x, int64_t samples, int64_t channels, int64_t area,
                                 int64_t x_stride, const Moments* moments, Normalise<T> how, T* y,
                                 int64_t y_stride) {
  const int64_t sample = blockIdx.x / channels, channel = blockIdx.x % channels;
  const OnlineMoments merge;
  Moments part = merge.identity();
  for (int64_t n = threadIdx.x; n < samples; n += blockDim.x) {
    part = merge(part, moments[n * channels + channel]);
  }
  const Moments m = combine(Block{}, part, merge);
  const float scale = element(how.weight, channel) / sqrtf(m.variance() + how.eps);
  const float offset = element(how.bias, channel);
  const Activation activation = how.activation;
  x += sample * x_stride + channel * area;
  y += sample * y_stride + channel * area;
  if (how.residual == nullptr) {
    map(
        GridColumn{}, area,
        [=](float v) { return activate(activation, (v - m.mean) * scale + offset); }, y, x);
  } else {
    map(
        GridColumn{}, area,
        [=](float v, float r) { return activate(activation, (v - m.mean) * scale + offset + r); },
        y, x, how.residual + blockIdx.x * area);
  }
}

/// The same for small planes, in one pass over memory: block i has channel i of all samples, each
/// thread some of its values.
constexpr int values_of_thread = 8;
template <class T>
__global__ void normalise_channels(const T* x, int64_t samples, int64_t channels, int64_t area,
                                   int64_t x_stride, Normalise<T> how, T* y, int64_t y_stride) {
  const int64_t channel = blockIdx.x;
  const auto plane = static_cast<int>(area), count = static_cast<int>(samples * area);
  float values[values_of_thread], residuals[values_of_thread] = {};
  const auto for_each = [&](auto f) {
#pragma unroll
    for (int j = 0; j < values_of_thread; ++j) {
      const int i = static_cast<int>(threadIdx.x + j * blockDim.x);
      if (i < count) f(j, int64_t{i / plane}, channel * area + i % plane);
    }
  };
  for_each([&](int j, int64_t sample, int64_t at) {
    values[j] = element(x, sample * x_stride + at);
    if (how.residual != nullptr)
      residuals[j] = element(how.residual, sample * channels * area + at);
  });
  float sum = 0, squares = 0;
  for_each([&](int j, int64_t, int64_t) { sum += values[j]; });
  const float mean = combine(Block{}, sum, Sum{}) / static_cast<float>(count);
  for_each([&](int j, int64_t, int64_t) { squares += (values[j] - mean) * (values[j] - mean); });
  const float variance = combine(Block{}, squares, Sum{}) / static_cast<float>(count);
  const float scale = element(how.weight, channel) / sqrtf(variance + how.eps);
  const float offset = element(how.bias, channel);
  for_each([&](int j, int64_t sample, int64_t at) {
    const float v = (values[j] - mean) * scale + offset + residuals[j];
    y[sample * y_stride + at] = static_cast<T>(activate(how.activation, v));
  });
}

/// Block i writes the mean of plane i.
template <class T>
__global__ void average_planes(const T* x, int64_t channels, int64_t area, int64_t sample_stride,
                               T* y) {
  x += blockIdx.x / channels * sample_stride + blockIdx.x % channels * area;
  const float sum = reduce(Block{}, area, Sum{}, Same{}, x);
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<T>(sum / static_cast<float>(area));
}

/// The blocks (i, j) multiply plane i by gates[i].
template <class T>
__global__ void scale_planes(T* x, int64_t area, const T* gates) {
  x += blockIdx.x * area;
  const float gate = element(gates, blockIdx.x);
  map(
      GridColumn{}, area, [=](float v) { return v * gate; }, x, x);
}

/// One block per row: y = normalised x * weight + bias.
template <class T>
__global__ void normalise_rows(const T* x, int64_t width, const T* weight, const T* bias, float eps,
                               T* y) {
  x += blockIdx.x * width;
  y += blockIdx.x * width;
  const Moments m = reduce(Block{}, width, OnlineMoments{}, Same{}, x);
  const float scale = 1 / sqrtf(m.variance() + eps);
  map(
      Block{}, width, [=](float v, float w, float b) { return (v - m.mean) * scale * w + b; }, y, x,
      weight, bias);
}

/// Activation(x + y), for launch_map().
struct AddActivate {
  Activation activation;
  __device__ float operator()(float a, float b) const { return activate(activation, a + b); }
};

/// Windows of a pooling layer, square.
struct Pool {
  int64_t kernel, stride, padding = 0;
  bool ceil = false;  ///< a last window may reach over the end, as in PyTorch's ceil_mode

  int64_t out(int64_t in) const {
    const int64_t room = in + 2 * padding - kernel;
    const int64_t windows = (room + (ceil ? stride - 1 : 0)) / stride + 1;
    return ceil && (windows - 1) * stride >= in + padding ? windows - 1 : windows;
  }
};

// ---------------------------------------------------------------------------------------------

/// How a convolution moves; the kernel's size is its weight's.
struct ConvOptions {
  Extent<2> stride = 1, padding = 0;
  int64_t groups = 1;
  bool bias = true;
  Extent<2> dilation = 1;
  Extent<2> output_padding = 0;  ///< of a transposed convolution
};

/// Launches a network's layers on one stream. Layers take the name of their weights without
/// ".weight" and ".bias". A function that ends in _to writes where it is told, for example into a
/// slice; the others make a map. Convolutions, layer norms and sums read maps without gaps only;
/// what does not fit ends the program with a message.
template <class T>
class NetworkOf {
 public:
  using Map = FeatureMapOf<T>;

  NetworkOf(const Weights& weights, cudaStream_t stream) : weights_(weights), stream_(stream) {}

  cudaStream_t stream() const { return stream_; }
  const Weight& find(const std::string& name) const { return weights_.find(name.c_str()); }
  const T* weight(const std::string& name) const { return find(name).data; }

  /// A map with undefined values.
  Map make(int64_t samples, int64_t channels, int64_t height = 1, int64_t width = 1) const {
    Map map = output(nullptr, samples, channels, height, width);
    void* memory = nullptr;
    cudaMallocAsync(&memory, map.size() * sizeof(T), stream_);
    map.data = static_cast<T*>(memory);
    map.memory = std::shared_ptr<void>(memory, [s = stream_](void* p) { cudaFreeAsync(p, s); });
    return map;
  }
  /// The map of a tensor that somebody else owns.
  static Map output(T* y, int64_t samples, int64_t channels, int64_t height = 1,
                    int64_t width = 1) {
    return {y, samples, channels, height, width, channels * height * width, nullptr};
  }
  /// The same for a tensor that is only read.
  static Map input(const T* x, int64_t samples, int64_t channels, int64_t height = 1,
                   int64_t width = 1) {
    return output(const_cast<T*>(x), samples, channels, height, width);
  }

  Map conv(const std::string& name, const Map& x, const ConvOptions& options = {},
           Activation activation = Activation::none) const {
    const ConvShape<2> s = shape(name, x, options);
    const Map y = make(s.batch, s.out_channels, s.out[0], s.out[1]);
    conv_to(y, name, x, options, activation);
    return y;
  }
  void conv_to(const Map& y, const std::string& name, const Map& x, const ConvOptions& options = {},
               Activation activation = Activation::none) const {
    const ConvShape<2> s = shape(name, x, options);
    check(y, name, s.out_channels, s.out);
    launch_conv_results(
        stream_, s, x.data, weight(name + ".weight"),
        StoreFeatures<T>{y.data, y.sample_stride, y.area(), bias(name, options.bias), activation});
  }
  /// A convolution whose groups are single channels of x; options.groups does not count.
  Map depthwise(const std::string& name, const Map& x, ConvOptions options = {},
                Activation activation = Activation::none) const {
    options.groups = x.channels;
    const ConvShape<2> s = shape(name, x, options);
    const Map y = make(s.batch, s.out_channels, s.out[0], s.out[1]);
    launch_depthwise(stream_, s, x.data, weight(name + ".weight"),
                     BiasActivation<T>{bias(name, options.bias), activation}, y.data);
    return y;
  }
  void conv_transposed_to(const Map& y, const std::string& name, const Map& x,
                          const ConvOptions& options = {},
                          Activation activation = Activation::none) const {
    expect(!x.has_gaps(), name, "reads maps without gaps only");
    const Weight& w = find(name + ".weight");
    expect(w.rank == 4 && w.shape[0] == x.channels, name, "has a weight of another shape");
    const auto s = conv_transposed_shape<2>(x.samples, x.channels, w.shape[1] * options.groups,
                                            {x.height, x.width}, {w.shape[2], w.shape[3]},
                                            options.stride, options.padding, options.output_padding,
                                            options.dilation, options.groups);
    check(y, name, s.out_channels, s.out);
    launch_conv_transposed_results(
        stream_, s, x.data, w.data,
        StoreFeatures<T>{y.data, y.sample_stride, y.area(), bias(name, options.bias), activation});
  }

  /// x = activation(batch norm of x + residual), by the statistics of the batch.
  void batch_norm(const std::string& name, const Map& x, Activation activation = Activation::none,
                  const Map& residual = {}, float eps = 1e-5f) const {
    batch_norm_to(x, name, x, activation, residual, eps);
  }
  void batch_norm_to(const Map& y, const std::string& name, const Map& x,
                     Activation activation = Activation::none, const Map& residual = {},
                     float eps = 1e-5f) const {
    check(y, name, x.channels, {x.height, x.width});
    expect(residual.data == nullptr || (residual.size() == x.size() && !residual.has_gaps()), name,
           "has a residual of another shape");
    if (x.size() <= 0) return;
    const Normalise<T> how = {weight(name + ".weight"), weight(name + ".bias"), residual.data, eps,
                              activation};
    if (x.samples * x.area() <= 1024 * values_of_thread) {
      const int64_t wanted = (x.samples * x.area() / values_of_thread + 32) / 32 * 32;
      normalise_channels<<<static_cast<unsigned>(x.channels),
                           static_cast<unsigned>(wanted < 1024 ? wanted : 1024), 0, stream_>>>(
          static_cast<const T*>(x.data), x.samples, x.channels, x.area(), x.sample_stride, how,
          y.data, y.sample_stride);
      return;
    }
    void* memory = nullptr;
    cudaMallocAsync(&memory, planes(x) * sizeof(Moments), stream_);
    const auto moments = static_cast<Moments*>(memory);
    measure_planes<<<planes(x), threads(x), 0, stream_>>>(x.data, x.channels, x.area(),
                                                          x.sample_stride, moments);
    normalise_planes<<<grid(x), threads(x), 0, stream_>>>(x.data, x.samples, x.channels, x.area(),
                                                          x.sample_stride, moments, how, y.data,
                                                          y.sample_stride);
    cudaFreeAsync(memory, stream_);
  }

  /// Layer norm over each row of x, [rows, width].
  Map layer_norm(const std::string& name, const Map& x, float eps = 1e-5f) const {
    const Map y = make(x.samples, x.channels);
    expect(x.area() == 1 && !x.has_gaps(), name, "reads rows without gaps only");
    if (x.size() <= 0) return y;
    const unsigned block = x.channels < 1024 ? 128 : 256;
    normalise_rows<<<x.samples, block, 0, stream_>>>(static_cast<const T*>(x.data), x.channels,
                                                     weight(name + ".weight"),
                                                     weight(name + ".bias"), eps, y.data);
    return y;
  }

  /// activation(x * transpose(weight) + bias) + residual for rows x, [rows, in]. The weight is
  /// [out, in], or has ones behind.
  Map linear(const std::string& name, const Map& x, Activation activation = Activation::none,
             const Map& residual = {}, bool with_bias = true) const {
    const Map y = make(x.samples, find(name + ".weight").shape[0]);
    linear_to(y, name, x, activation, residual, with_bias);
    return y;
  }
  void linear_to(const Map& y, const std::string& name, const Map& x,
                 Activation activation = Activation::none, const Map& residual = {},
                 bool with_bias = true) const {
    multiply(y, name, find(name + ".weight"), bias(name, with_bias), x, activation, residual);
  }
  /// The same for weights that have names of their own, without activation and residual.
  Map linear_of(const std::string& weight_name, const std::string& bias_name, const Map& x) const {
    const Weight& w = find(weight_name);
    const Map y = make(x.samples, w.shape[0]);
    multiply(y, weight_name, w, weight(bias_name), x, Activation::none, {});
    return y;
  }

  /// The maximum of each window; padding does not count.
  Map max_pool(const Map& x, const Pool& pool) const { return pooled(x, pool, GreatestOfWindow{}); }
  /// The mean of each window; padding counts as zeros.
  Map avg_pool(const Map& x, const Pool& pool) const {
    return pooled(x, pool, MeanOfWindow{static_cast<float>(pool.kernel * pool.kernel)});
  }
  /// The mean of each plane: [samples, channels].
  Map mean_pool(const Map& x) const {
    const Map y = make(x.samples, x.channels);
    if (x.size() <= 0) return y;
    average_planes<<<planes(x), threads(x), 0, stream_>>>(x.data, x.channels, x.area(),
                                                          x.sample_stride, y.data);
    return y;
  }

  /// x = activation(x + y).
  void add(const Map& x, const Map& y, Activation activation = Activation::none) const {
    expect(x.size() == y.size() && !x.has_gaps() && !y.has_gaps(), "add", "wants equal shapes");
    launch_map(stream_, x.size(), AddActivate{activation}, x.data, x.data, y.data);
  }
  /// Each plane of x times its gate, [samples, channels].
  void scale(const Map& x, const Map& gates) const {
    expect(gates.size() == x.samples * x.channels && !x.has_gaps(), "scale", "wants equal shapes");
    if (x.size() > 0) {
      scale_planes<<<grid(x), threads(x), 0, stream_>>>(x.data, x.area(), gates.data);
    }
  }

 private:
  static void expect(bool holds, const std::string& name, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "kb::Network: layer '%s' %s\n", name.c_str(), what);
    std::abort();
  }
  static void check(const Map& y, const std::string& name, int64_t channels,
                    const Extent<2>& extent) {
    expect(y.channels == channels && y.height == extent[0] && y.width == extent[1], name,
           "has a result of another shape");
  }
  const T* bias(const std::string& name, bool exists) const {
    return exists ? weight(name + ".bias") : nullptr;
  }
  ConvShape<2> shape(const std::string& name, const Map& x, const ConvOptions& options) const {
    expect(!x.has_gaps(), name, "reads maps without gaps only");
    const Weight& w = find(name + ".weight");
    expect(w.rank == 4 && w.shape[1] * options.groups == x.channels, name,
           "has a weight of another shape");
    return conv_shape<2>(x.samples, x.channels, w.shape[0], {x.height, x.width},
                         {w.shape[2], w.shape[3]}, options.stride, options.padding,
                         options.dilation, options.groups);
  }
  // y = activation(x * transpose(w) + bias) + residual; rows of x may have gaps between them.
  void multiply(const Map& y, const std::string& name, const Weight& w, const T* bias, const Map& x,
                Activation activation, const Map& residual) const {
    const ProductShape s = {x.samples, w.shape[0], x.channels * x.area()};
    expect(w.shape[1] == s.depth, name, "has a weight of another shape");
    expect(!y.has_gaps() && y.size() == s.rows * s.columns, name, "has a result of another shape");
    expect(residual.data == nullptr || (residual.size() == y.size() && !residual.has_gaps()), name,
           "has a residual of another shape");
    launch_product(
        stream_, s, left(static_cast<const T*>(x.data), s, x.sample_stride),
        right_transposed(w.data, s),
        store(y.data, s, BiasActivationResidual<T>{bias, residual.data, s.columns, activation}));
  }
  template <class Op>
  Map pooled(const Map& x, const Pool& pool, Op op) const {
    const Map y = make(x.samples, x.channels, pool.out(x.height), pool.out(x.width));
    const auto along = [&](int64_t in, int64_t out) {
      return PoolAxis{static_cast<int>(in), static_cast<int>(out), static_cast<int>(pool.kernel),
                      static_cast<int>(pool.stride), static_cast<int>(pool.padding)};
    };
    const PoolShape shape = {
        x.samples * x.channels, along(x.height, y.height), along(x.width, y.width), {}, x.channels,
        x.sample_stride};
    launch_pool(stream_, shape, op, static_cast<const T*>(x.data), y.data);
    return y;
  }

  static unsigned planes(const Map& x) { return static_cast<unsigned>(x.samples * x.channels); }
  // A thread takes some vectors of four elements; small planes get a warp.
  static unsigned threads(const Map& x) {
    const int64_t wanted = (x.area() / 8 + 31) / 32 * 32;
    return static_cast<unsigned>(wanted < 32 ? 32 : wanted > 512 ? 512 : wanted);
  }
  static dim3 grid(const Map& x) {
    const int64_t per_block = int64_t{threads(x)} * 16;
    const int64_t parts = (x.area() + per_block - 1) / per_block;
    return {planes(x), static_cast<unsigned>(parts < 65535 ? parts : 65535)};
  }

  const Weights& weights_;
  cudaStream_t stream_;
};

using Network = NetworkOf<real>;

}  // namespace kb
