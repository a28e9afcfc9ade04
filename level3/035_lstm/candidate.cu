#include "task.h"

#include <algorithm>
#include <string>
#include <vector>

constexpr int samples = 10, threads = 256, warps = threads / 32, layers_per_launch = 16;

struct Layer {
  const float *weight_ih, *weight_hh, *bias_ih, *bias_hh;
};

struct Layers {
  Layer at[layers_per_launch];
};

struct State {
  const float *x, *h0, *c0;
  const float* h_old;  // of the steps one diagonal earlier, [num_layers, batch_size, hidden_size]
  float* h_new;        // of this diagonal's steps
  float* c;
};

// Adds this lane's share of the products of four rows of weight (hidden rows apart) and the
// vectors of up to `samples` samples.
__device__ void add_products(const float* weight, int64_t hidden, int64_t size, const float* in,
                             int64_t stride, int64_t count, float (&gates)[4][samples]) {
  for (int64_t k = threadIdx.x % 32; k < size; k += 32) {
    float w[4];
    for (int gate = 0; gate < 4; ++gate) w[gate] = weight[gate * hidden * size + k];
#pragma unroll
    for (int b = 0; b < samples; ++b) {
      const float v = b < count ? in[b * stride + k] : 0;
      for (int gate = 0; gate < 4; ++gate) gates[gate][b] = fmaf(w[gate], v, gates[gate][b]);
    }
  }
}

__device__ float sigmoid(float v) { return 1 / (1 + expf(-v)); }

// Step `diagonal - layer` of layer first_layer + blockIdx.y. Layers on one diagonal do not depend
// on each other. One warp computes the four gates of one hidden unit, for `samples` samples at a
// time.
__global__ void step(task::Sizes s, Layers layers, State state, int64_t first_layer,
                     int64_t diagonal) {
  const int lane = threadIdx.x % 32;
  const int64_t unit = int64_t{blockIdx.x} * warps + threadIdx.x / 32;
  const int64_t hidden = s.hidden_size, layer = first_layer + blockIdx.y, t = diagonal - layer;
  if (unit >= hidden) return;
  const Layer& p = layers.at[blockIdx.y];
  const int64_t layer_size = s.batch_size * hidden;
  const int64_t in_size = layer == 0 ? s.input_size : hidden;
  const int64_t in_stride = layer == 0 ? s.sequence_length * s.input_size : hidden;
  const float* in =
      layer == 0 ? state.x + t * s.input_size : state.h_old + (layer - 1) * layer_size;
  const float* h = (t == 0 ? state.h0 : state.h_old) + layer * layer_size;
  const float* c = (t == 0 ? state.c0 : state.c) + layer * layer_size;
  for (int64_t b0 = 0; b0 < s.batch_size; b0 += samples) {
    const int64_t count = s.batch_size - b0;
    float gates[4][samples] = {};
    add_products(p.weight_ih + unit * in_size, hidden, in_size, in + b0 * in_stride, in_stride,
                 count, gates);
    add_products(p.weight_hh + unit * hidden, hidden, hidden, h + b0 * hidden, hidden, count,
                 gates);
    float own[4] = {};  // lane b keeps the gates of sample b0 + b
#pragma unroll
    for (int b = 0; b < samples; ++b) {
      for (int gate = 0; gate < 4; ++gate) {
        float sum = gates[gate][b];
        for (int i = 16; i > 0; i /= 2) sum += __shfl_xor_sync(~0u, sum, i);
        if (lane == b) own[gate] = sum;
      }
    }
    if (lane >= samples || lane >= count) continue;
    for (int gate = 0; gate < 4; ++gate) {
      own[gate] += p.bias_ih[gate * hidden + unit] + p.bias_hh[gate * hidden + unit];
    }
    const int64_t at = (b0 + lane) * hidden + unit;
    const float cell = sigmoid(own[1]) * c[at] + sigmoid(own[0]) * tanhf(own[2]);
    state.c[layer * layer_size + at] = cell;
    state.h_new[layer * layer_size + at] = sigmoid(own[3]) * tanhf(cell);
  }
}

// out = h * transpose(weight) + bias, one warp per element of out [batch_size, output_size].
__global__ void linear(task::Sizes s, const float* h, const float* weight, const float* bias,
                       float* out) {
  const int64_t i = int64_t{blockIdx.x} * warps + threadIdx.x / 32;
  if (i >= s.batch_size * s.output_size) return;
  const int64_t sample = i / s.output_size, output = i % s.output_size;
  float sum = 0;
  for (int64_t k = threadIdx.x % 32; k < s.hidden_size; k += 32) {
    sum = fmaf(h[sample * s.hidden_size + k], weight[output * s.hidden_size + k], sum);
  }
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
  if (threadIdx.x % 32 == 0) out[i] = sum + bias[output];
}

void task::launch(const Sizes& s, const float* x, const float* h0, const float* c0,
                  const kb::Weights& weights, float* out, cudaStream_t stream) {
  std::vector<Layer> layers;
  for (int64_t layer = 0; layer < s.num_layers; ++layer) {
    auto weight = [&](const char* name) {
      return weights[("lstm." + std::string(name) + "_l" + std::to_string(layer)).c_str()];
    };
    layers.push_back(
        {weight("weight_ih"), weight("weight_hh"), weight("bias_ih"), weight("bias_hh")});
  }
  const int64_t layer_size = s.batch_size * s.hidden_size, size = s.num_layers * layer_size;
  void* scratch;
  cudaMallocAsync(&scratch, 3 * size * sizeof(float), stream);
  float* memory = static_cast<float*>(scratch);
  State state = {x, h0, c0, memory, memory + size, memory + 2 * size};

  // All layers advance together, each one step behind the layer below it.
  const unsigned unit_blocks = (s.hidden_size + warps - 1) / warps;
  for (int64_t diagonal = 0; diagonal < s.sequence_length + s.num_layers - 1; ++diagonal) {
    const int64_t lowest = std::max<int64_t>(0, diagonal - s.sequence_length + 1);
    const int64_t end = std::min(s.num_layers, diagonal + 1);
    for (int64_t first = lowest; first < end; first += layers_per_launch) {
      const int64_t count = std::min<int64_t>(layers_per_launch, end - first);
      Layers part = {};
      std::copy_n(layers.begin() + first, count, part.at);
      step<<<dim3(unit_blocks, count), threads, 0, stream>>>(s, part, state, first, diagonal);
    }
    state.h_old = state.h_new;
    state.h_new = state.h_old == memory ? memory + size : memory;
  }
  const float* last = state.h_old + (s.num_layers - 1) * layer_size;
  const unsigned blocks = (s.batch_size * s.output_size + warps - 1) / warps;
  linear<<<blocks, threads, 0, stream>>>(s, last, weights["fc.weight"], weights["fc.bias"], out);
  cudaFreeAsync(scratch, stream);
}
