#include "task.h"

#include <algorithm>
#include <cfloat>
#include <string>

constexpr int tile = 64, slice = 16, threads = 256;

struct Shape {
  int64_t samples, channels, height, width;
  __host__ __device__ int64_t area() const { return height * width; }
  __host__ __device__ int64_t pixels() const { return samples * area(); }
};

// The convolution as a matrix product: weight [out.channels, depth] times the patches of x
// [depth, pixels], where depth counts (channel, tap row, tap column) and a pixel is one
// (sample, row, column) of y. A block computes a tile of it, each thread 4 x 4 elements, 16 apart.
__global__ void conv(const float* x, Shape in, const float* weight, int kernel, int stride,
                     int padding, float* y, Shape out) {
  __shared__ float w_tile[slice][tile + 2], x_tile[slice][tile];  // + 2: no bank conflicts
  const int64_t pixel0 = int64_t{blockIdx.x} * tile, channel0 = int64_t{blockIdx.y} * tile;
  const int depth = in.channels * kernel * kernel;

  // This thread fetches elements of one patch, whose first tap is at (top, left) of its sample.
  const int64_t pixel = pixel0 + threadIdx.x % tile;
  const int top = pixel % out.area() / out.width * stride - padding;
  const int left = pixel % out.width * stride - padding;
  x += pixel / out.area() * in.channels * in.area();
  const int row = threadIdx.x / 16, column = threadIdx.x % 16;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < depth; k0 += slice) {
    for (int i = threadIdx.x; i < tile * slice; i += threads) {
      const int64_t channel = channel0 + i / slice, k = k0 + i % slice;
      w_tile[i % slice][i / slice] =
          channel < out.channels && k < depth ? weight[channel * depth + k] : 0;
    }
    for (int i = threadIdx.x / tile; i < slice; i += threads / tile) {
      const int k = k0 + i, channel = k / (kernel * kernel);
      const int r = top + k / kernel % kernel, c = left + k % kernel;
      const bool inside = r >= 0 && r < in.height && c >= 0 && c < in.width;
      x_tile[i][threadIdx.x % tile] = inside && pixel < out.pixels() && k < depth
                                          ? x[(channel * in.height + r) * in.width + c]
                                          : 0;
    }
    __syncthreads();
    for (int k = 0; k < slice; ++k) {
      float w_part[4], x_part[4];
      for (int i = 0; i < 4; ++i) w_part[i] = w_tile[k][row + 16 * i];
      for (int j = 0; j < 4; ++j) x_part[j] = x_tile[k][column + 16 * j];
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(w_part[i], x_part[j], sum[i][j]);
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j) {
    const int64_t to = pixel0 + column + 16 * j;
    for (int i = 0; i < 4; ++i) {
      const int64_t channel = channel0 + row + 16 * i;
      if (to >= out.pixels() || channel >= out.channels) continue;
      y[(to / out.area() * out.channels + channel) * out.area() + to % out.area()] = sum[i][j];
    }
  }
}

// The sum over all 256 threads of a block, for each of them.
__device__ float sum_block(float v) {
  __shared__ float sums[8];
  for (int i = 16; i > 0; i /= 2) v += __shfl_xor_sync(~0u, v, i);
  __syncthreads();  // an earlier call's sums have been read
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0;
  for (int i = 0; i < 8; ++i) v += sums[i];
  return v;
}

// Batch norm of x in place, one block per channel; then adds `shortcut`, if any; then ReLU, if
// asked.
__global__ void batch_norm(float* x, Shape shape, const float* weight, const float* bias,
                           const float* shortcut, bool relu) {
  const int64_t n = shape.pixels(), area = shape.area();
  auto at = [&](int64_t i) { return (i / area * shape.channels + blockIdx.x) * area + i % area; };
  float sum = 0, squares = 0;
  for (int64_t i = threadIdx.x; i < n; i += threads) sum += x[at(i)];
  const float mean = sum_block(sum) / n;
  for (int64_t i = threadIdx.x; i < n; i += threads) {
    const float deviation = x[at(i)] - mean;
    squares = fmaf(deviation, deviation, squares);
  }
  const float scale = weight[blockIdx.x] / sqrtf(sum_block(squares) / n + 1e-5f);
  for (int64_t i = threadIdx.x; i < n; i += threads) {
    float v = (x[at(i)] - mean) * scale + bias[blockIdx.x];
    if (shortcut != nullptr) v += shortcut[at(i)];
    x[at(i)] = relu ? fmaxf(v, 0) : v;
  }
}

// 3 x 3, stride 2, padding 1; one thread per element of y.
__global__ void max_pool(const float* x, Shape in, float* y, Shape out) {
  const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= out.channels * out.pixels()) return;
  x += i / out.area() * in.area();
  const int64_t top = i % out.area() / out.width * 2 - 1, left = i % out.width * 2 - 1;
  float max = -FLT_MAX;
  for (int64_t r = top; r < top + 3; ++r) {
    for (int64_t c = left; c < left + 3; ++c) {
      if (r >= 0 && r < in.height && c >= 0 && c < in.width) max = fmaxf(max, x[r * in.width + c]);
    }
  }
  y[i] = max;
}

// y = mean of x over its area, one warp per (sample, channel).
__global__ void mean_pool(const float* x, Shape shape, float* y) {
  const int64_t plane = int64_t{blockIdx.x} * (threads / 32) + threadIdx.x / 32;
  if (plane >= shape.samples * shape.channels) return;
  float sum = 0;
  for (int64_t i = threadIdx.x % 32; i < shape.area(); i += 32) sum += x[plane * shape.area() + i];
  for (int i = 16; i > 0; i /= 2) sum += __shfl_xor_sync(~0u, sum, i);
  if (threadIdx.x % 32 == 0) y[plane] = sum / shape.area();
}

// y = x * transpose(weight) + bias, one warp per element of y [samples, outputs].
__global__ void linear(const float* x, int64_t samples, int64_t features, const float* weight,
                       const float* bias, float* y, int64_t outputs) {
  const int64_t i = int64_t{blockIdx.x} * (threads / 32) + threadIdx.x / 32;
  if (i >= samples * outputs) return;
  const int64_t sample = i / outputs, output = i % outputs;
  float sum = 0;
  for (int64_t k = threadIdx.x % 32; k < features; k += 32) {
    sum = fmaf(x[sample * features + k], weight[output * features + k], sum);
  }
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
  if (threadIdx.x % 32 == 0) y[i] = sum + bias[output];
}

namespace {

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Tensor {
  float* data;
  Shape shape;
};

// The network's layers on one stream, with weights by name.
struct Network {
  const kb::Weights& weights;
  cudaStream_t stream;

  const float* weight(const std::string& name) const { return weights[name.c_str()]; }

  // Writes to y and returns it with its shape. The kernel's size is the weight's.
  Tensor conv(const std::string& name, Tensor x, int stride, int padding, float* y) const {
    const kb::Weight& w = weights.find((name + ".weight").c_str());
    const int64_t kernel = w.shape[2], grown = 2 * padding - kernel;
    const Shape out = {x.shape.samples, w.shape[0], (x.shape.height + grown) / stride + 1,
                       (x.shape.width + grown) / stride + 1};
    const dim3 grid(ceil_div(out.pixels(), tile), ceil_div(out.channels, tile));
    ::conv<<<grid, threads, 0, stream>>>(x.data, x.shape, w.data, kernel, stride, padding, y, out);
    return {y, out};
  }

  void batch_norm(const std::string& name, Tensor x, bool relu,
                  const float* shortcut = nullptr) const {
    ::batch_norm<<<x.shape.channels, threads, 0, stream>>>(
        x.data, x.shape, weight(name + ".weight"), weight(name + ".bias"), shortcut, relu);
  }

  // Leaves x intact; a, b and c are scratch, and the result lies in b.
  Tensor block(const std::string& name, Tensor x, int stride, float* a, float* b, float* c) const {
    const Tensor middle = conv(name + ".conv1", x, stride, 1, a);
    batch_norm(name + ".bn1", middle, true);
    const Tensor out = conv(name + ".conv2", middle, 1, 1, b);
    if (stride != 1) {
      x = conv(name + ".downsample.0", x, stride, 0, c);
      batch_norm(name + ".downsample.1", x, false);
    }
    batch_norm(name + ".bn2", out, true, x.data);
    return out;
  }
};

// Elements of the largest tensor between two layers.
int64_t largest(const task::Sizes& s) {
  int64_t height = ceil_div(s.input_shape[2], 2), width = ceil_div(s.input_shape[3], 2);
  int64_t most = 64 / s.width_div * height * width;
  for (int layer = 1; layer <= 4; ++layer) {
    height = ceil_div(height, 2), width = ceil_div(width, 2);
    most = std::max(most, (32 << layer) / s.width_div * height * width);
  }
  return most * s.input_shape[0];
}

}  // namespace

void task::launch(const Sizes& s, const float* x, const kb::Weights& weights, float* y,
                  cudaStream_t stream) {
  const Network net = {weights, stream};
  const int64_t size = largest(s);
  void* scratch;
  cudaMallocAsync(&scratch, 4 * size * sizeof(float), stream);
  float* buffers[4];
  for (int i = 0; i < 4; ++i) buffers[i] = static_cast<float*>(scratch) + i * size;

  const auto [samples, channels, height, width] = s.input_shape;
  const Tensor image = {const_cast<float*>(x), {samples, channels, height, width}};
  const Tensor stem = net.conv("conv1", image, 2, 3, buffers[1]);
  net.batch_norm("bn1", stem, true);
  Tensor t = {buffers[0],
              {samples, stem.shape.channels, ceil_div(stem.shape.height, 2),
               ceil_div(stem.shape.width, 2)}};
  max_pool<<<ceil_div(t.shape.channels * t.shape.pixels(), threads), threads, 0, stream>>>(
      stem.data, stem.shape, t.data, t.shape);
  for (const std::string layer : {"layer1", "layer2", "layer3", "layer4"}) {
    for (const std::string block : {".0", ".1"}) {
      const int stride = layer != "layer1" && block == ".0" ? 2 : 1;
      t = net.block(layer + block, t, stride, buffers[1], buffers[2], buffers[3]);
      std::swap(buffers[0], buffers[2]);  // buffers[0] holds the block's result from here on
    }
  }
  const int64_t features = t.shape.channels, warps = threads / 32;
  mean_pool<<<ceil_div(samples * features, warps), threads, 0, stream>>>(t.data, t.shape,
                                                                         buffers[1]);
  linear<<<ceil_div(samples * s.num_classes, warps), threads, 0, stream>>>(
      buffers[1], samples, features, net.weight("fc.weight"), net.weight("fc.bias"), y,
      s.num_classes);
  cudaFreeAsync(scratch, stream);
}
