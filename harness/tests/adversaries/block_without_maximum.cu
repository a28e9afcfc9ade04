// A transformer block whose softmax takes exponentials of scores as they are. Inputs are normalised
// before, so that only its weights can make a score greater than 88.
// Task: level3/044_minigpt_block
// Expected: incorrect
#include "task.h"

// One thread per element everywhere.
__device__ int64_t this_thread() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

__global__ void layer_norm(const float* x, const float* weight, const float* bias, int64_t elements,
                           int64_t width, float* y) {
  const int64_t i = this_thread();
  if (i >= elements) return;
  const float* row = x + i / width * width;
  float mean = 0, variance = 0;
  for (int64_t k = 0; k < width; ++k) mean += row[k] / width;
  for (int64_t k = 0; k < width; ++k) variance += (row[k] - mean) * (row[k] - mean) / width;
  y[i] = (x[i] - mean) / sqrtf(variance + 1e-5f) * weight[i % width] + bias[i % width];
}

// y = x * transpose(weight) + bias, gelu of that, or that + residual.
__global__ void linear(const float* x, const float* weight, const float* bias,
                       const float* residual, bool gelu, int64_t elements, int64_t in, int64_t out,
                       float* y) {
  const int64_t i = this_thread();
  if (i >= elements) return;
  const int64_t row = i / out, column = i % out;
  float v = bias[column];
  for (int64_t k = 0; k < in; ++k) v = fmaf(x[row * in + k], weight[column * in + k], v);
  if (gelu) v = v / 2 * (1 + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
  y[i] = residual == nullptr ? v : v + residual[i];
}

__global__ void attend(const float* qkv, int64_t elements, int64_t steps, int64_t width,
                       int64_t heads, float* y) {
  const int64_t i = this_thread();
  if (i >= elements) return;
  const int64_t size = width / heads, row = i / width, first = row / steps * steps;
  const float* q = qkv + row * 3 * width + i % width / size * size;
  float total = 0, sum = 0;
  for (int64_t key = first; key <= row; ++key) {
    const float* k = q + (key - row) * 3 * width + width;
    float score = 0;
    for (int64_t e = 0; e < size; ++e) score = fmaf(q[e], k[e], score);
    const float weight = expf(score / sqrtf(static_cast<float>(size)));
    total += weight;
    sum = fmaf(weight, k[width + i % size], sum);
  }
  y[i] = sum / total;
}

void task::launch(const Sizes& s, const float* x, const kb::Weights& weights, float* y,
                  cudaStream_t stream) {
  const int64_t rows = s.batch_size * s.seq_len, width = s.n_embd;
  constexpr int threads = 128;
  const auto blocks = [&](int64_t elements) {
    return static_cast<unsigned>((elements + threads - 1) / threads);
  };
  float* memory = nullptr;
  cudaMallocAsync(&memory, rows * width * 6 * sizeof(float), stream);
  float *const normed = memory, *const sum = normed + rows * width,
               *const wide = sum + rows * width;
  const auto norm = [&](const char* weight, const char* bias, const float* from) {
    layer_norm<<<blocks(rows * width), threads, 0, stream>>>(from, weights[weight], weights[bias],
                                                             rows * width, width, normed);
  };
  const auto apply = [&](const char* weight, const char* bias, const float* from,
                         const float* residual, bool gelu, int64_t in, int64_t out, float* to) {
    linear<<<blocks(rows * out), threads, 0, stream>>>(from, weights[weight], weights[bias],
                                                       residual, gelu, rows * out, in, out, to);
  };
  norm("ln_1.weight", "ln_1.bias", x);
  apply("attn.c_attn.weight", "attn.c_attn.bias", normed, nullptr, false, width, 3 * width, wide);
  attend<<<blocks(rows * width), threads, 0, stream>>>(wide, rows * width, s.seq_len, width,
                                                       s.n_head, normed);
  apply("attn.c_proj.weight", "attn.c_proj.bias", normed, x, false, width, width, sum);
  norm("ln_2.weight", "ln_2.bias", sum);
  apply("mlp.c_fc.weight", "mlp.c_fc.bias", normed, nullptr, true, width, 4 * width, wide);
  apply("mlp.c_proj.weight", "mlp.c_proj.bias", wide, sum, false, 4 * width, width, y);
  cudaFreeAsync(memory, stream);
}
