// A step of a recurrent network: x and state are read where they lie, and
// tanh(v) = 1 - 2 / (1 + exp(2 v)).
// Task: level3/033_vanilla_rnn
// Expected: pass
#include "task.h"

__global__ void next_state(const float* x, const float* hidden, const float* weight,
                           const float* bias, float* next, int64_t rows, int64_t inputs,
                           int64_t states) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= rows * states) return;
  const int64_t row = i / states, state = i % states;
  weight += state * (inputs + states);
  float v = bias[state];
  for (int64_t k = 0; k < inputs; ++k) v += x[row * inputs + k] * weight[k];
  for (int64_t k = 0; k < states; ++k) v += hidden[row * states + k] * weight[inputs + k];
  next[i] = 1 - 2 / (1 + expf(2 * v));
}

__global__ void linear(const float* x, const float* weight, const float* bias, float* y,
                       int64_t rows, int64_t depth, int64_t columns) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= rows * columns) return;
  float v = bias[i % columns];
  for (int64_t k = 0; k < depth; ++k) {
    v += x[i / columns * depth + k] * weight[i % columns * depth + k];
  }
  y[i] = v;
}

void task::launch(const Sizes& s, const float* x, const float* hidden, const kb::Weights& weights,
                  float* output, cudaStream_t stream) {
  const int64_t states = s.batch_size * s.hidden_size, outputs = s.batch_size * s.output_size;
  float* next = nullptr;
  cudaMallocAsync(&next, states * sizeof(float), stream);
  next_state<<<(states + 127) / 128, 128, 0, stream>>>(x, hidden, weights["i2h.weight"],
                                                       weights["i2h.bias"], next, s.batch_size,
                                                       s.input_size, s.hidden_size);
  linear<<<(outputs + 127) / 128, 128, 0, stream>>>(next, weights["h2o.weight"],
                                                    weights["h2o.bias"], output, s.batch_size,
                                                    s.hidden_size, s.output_size);
  cudaFreeAsync(next, stream);
}
