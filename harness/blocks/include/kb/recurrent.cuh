// Stacks of recurrent layers, as torch.nn.RNN, LSTM and GRU: one or two directions, all steps.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "product.cuh"

namespace kb {

/// What a layer computes of its gates: tanh of one; input, forget, cell and output of four; reset,
/// update and new of three, in PyTorch's order.
enum class Cell { tanh, lstm, gru };

/// Rows of gates in a layer's weights, per hidden unit.
template <Cell cell>
inline constexpr int cell_gates = cell == Cell::lstm  ? 4
                                  : cell == Cell::gru ? 3
                                                      : 1;

/// One layer in one direction: weight_ih [gates * hidden, in], weight_hh [gates * hidden, hidden],
/// both biases [gates * hidden]. A bias may be nullptr.
template <class T>
struct RecurrentWeights {
  const T *weight_ih, *weight_hh, *bias_ih, *bias_hh;
};

/// One step of one layer in one direction. Rows of samples have strides.
template <class T>
struct RecurrentStep {
  RecurrentWeights<T> weights;
  const T*
      in;  ///< [batch, in_size]; nullptr if `gates` holds the product with weight_ih and bias_ih
  int64_t in_size, in_stride;
  const float* gates;
  int64_t gates_stride;
  const T* h_old;
  int64_t h_old_stride;
  T* h_new;
  int64_t h_new_stride;
  T* c;  ///< [batch, hidden] of an LSTM, changed in place
};

/// Steps that do not depend on one another.
template <class T>
struct RecurrentSteps {
  static constexpr int most = 16;
  RecurrentStep<T> at[most];
};

/// Adds this lane's share of the products of a unit's rows of weight, `gate_stride` apart, and the
/// vectors of some samples. Gate i goes to sums[i * samples + sample], the last one to those of
/// `last`.
template <int gates, int last, int samples, int size, class T>
__device__ void add_gate_products(const T* weight, int64_t gate_stride, int64_t length, const T* in,
                                  int64_t stride, int64_t count, float (&sums)[size]) {
  // The loads of four rounds are under way together.
#pragma unroll 4
  for (int64_t k = threadIdx.x % 32; k < length; k += 32) {
    float w[gates];
#pragma unroll
    for (int gate = 0; gate < gates; ++gate) w[gate] = element(weight, gate * gate_stride + k);
#pragma unroll
    for (int b = 0; b < samples; ++b) {
      const float v = b < count ? element(in, b * stride + k) : 0;
#pragma unroll
      for (int gate = 0; gate < gates; ++gate) {
        float& sum = sums[(gate == gates - 1 ? last : gate) * samples + b];
        sum = fmaf(w[gate], v, sum);
      }
    }
  }
}

/// Adds each of the first `count` values up over the warp, in halves: with each step a lane has the
/// sums of half as many of them left. Where they are says place_of_sum().
template <int count, int mask = 16, int size>
__device__ void add_over_warp(float (&values)[size]) {
  constexpr int half = (count + 1) / 2;
  const bool upper = (threadIdx.x & mask) != 0;
#pragma unroll
  for (int i = 0; i < half; ++i) {
    const float low = values[i], high = i + half < count ? values[i + half] : 0;
    values[i] = (upper ? high : low) + __shfl_xor_sync(~0u, upper ? low : high, mask);
  }
  if constexpr (mask > 1) add_over_warp<half, mask / 2>(values);
}

/// The lane and the index at which add_over_warp() leaves the sum of value `index`.
struct SumPlace {
  int lane, index;
};
template <int count, int mask = 16>
__device__ SumPlace place_of_sum(int index) {
  constexpr int half = (count + 1) / 2;
  const bool upper = index >= half;
  SumPlace place = {0, upper ? index - half : index};
  if constexpr (mask > 1) place = place_of_sum<half, mask / 2>(place.index);
  place.lane += upper ? mask : 0;
  return place;
}
/// How many sums a lane has then.
template <int count, int mask = 16>
__host__ __device__ constexpr int sums_of_lane() {
  if constexpr (mask == 0) {
    return count;
  } else {
    return sums_of_lane<(count + 1) / 2, mask / 2>();
  }
}

/// The blocks (i, j) do step j for some hidden units, one per warp, `samples` samples at a time.
template <Cell cell, class T>
__global__ void recurrent_step(RecurrentSteps<T> steps, int64_t batch, int64_t hidden) {
  // The new gate of a GRU needs its two products apart.
  constexpr int gates = cell_gates<cell>, samples = 10;
  constexpr int sums_count = cell == Cell::gru ? 4 : gates;
  const RecurrentStep<T>& s = steps.at[blockIdx.y];
  const RecurrentWeights<T>& w = s.weights;
  const int64_t unit = int64_t{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (unit >= hidden) return;
  const auto sigmoid = [](float v) { return 1 / (1 + expf(-v)); };
  for (int64_t b0 = 0; b0 < batch; b0 += samples) {
    const int64_t count = batch - b0;
    constexpr int all = sums_count * samples;
    float sums[all] = {};
    if (s.in != nullptr) {
      add_gate_products<gates, gates - 1, samples>(
          w.weight_ih + unit * s.in_size, hidden * s.in_size, s.in_size, s.in + b0 * s.in_stride,
          s.in_stride, count, sums);
    }
    add_gate_products<gates, sums_count - 1, samples>(w.weight_hh + unit * hidden, hidden * hidden,
                                                      hidden, s.h_old + b0 * s.h_old_stride,
                                                      s.h_old_stride, count, sums);
    add_over_warp<all>(sums);
    float own[sums_count] = {};  // lane b gets those of sample b0 + b
#pragma unroll
    for (int i = 0; i < sums_count; ++i) {
      const SumPlace place = place_of_sum<all>(i * samples + (lane < samples ? lane : 0));
#pragma unroll
      for (int j = 0; j < sums_of_lane<all>(); ++j) {
        const float sum = __shfl_sync(~0u, sums[j], place.lane);
        if (j == place.index) own[i] = sum;
      }
    }
    if (lane >= samples || lane >= count) continue;
    const int64_t sample = b0 + lane;
#pragma unroll
    for (int gate = 0; gate < gates; ++gate) {
      const int64_t row = gate * hidden + unit;
      float& of_h = own[gate == gates - 1 ? sums_count - 1 : gate];
      if (w.bias_hh != nullptr) of_h += element(w.bias_hh, row);
      if (s.in == nullptr) {
        own[gate] += s.gates[sample * s.gates_stride + row];
      } else if (w.bias_ih != nullptr) {
        own[gate] += element(w.bias_ih, row);
      }
    }
    float h;
    if constexpr (cell == Cell::lstm) {
      T* const c = s.c + sample * hidden + unit;
      const float kept = sigmoid(own[1]) * element(c, 0) + sigmoid(own[0]) * tanhf(own[2]);
      *c = static_cast<T>(kept);
      h = sigmoid(own[3]) * tanhf(kept);
    } else if constexpr (cell == Cell::gru) {
      const float fresh = tanhf(own[2] + sigmoid(own[0]) * own[3]);
      const float before = element(s.h_old, sample * s.h_old_stride + unit);
      h = fresh + sigmoid(own[1]) * (before - fresh);
    } else {
      h = tanhf(own[0]);
    }
    s.h_new[sample * s.h_new_stride + unit] = static_cast<T>(h);
  }
}

template <Cell cell, class T>
void launch_recurrent_steps(cudaStream_t stream, const RecurrentSteps<T>& steps, int64_t count,
                            int64_t batch, int64_t hidden) {
  constexpr int threads = 128, warps = threads / 32;  // few, so that each has a multiprocessor
  const dim3 grid(static_cast<unsigned>((hidden + warps - 1) / warps), count);
  recurrent_step<cell><<<grid, threads, 0, stream>>>(steps, batch, hidden);
}

/// Sizes of a stack. x is [steps, batch, in], or [batch, steps, in] if batch_first; states are
/// [layers * directions, batch, hidden], directions of a layer next to each other.
struct RecurrentShape {
  int64_t steps, batch, in, hidden, layers;
  int directions = 1;
  bool batch_first = false;  ///< x only: `sequence` is always [steps, batch, ...]
};

/// Adds bias_ih to products with weight_ih.
template <class T>
struct AddGateBias {
  const T* bias;
  __device__ float operator()(float v, int64_t, int64_t, int64_t gate) const {
    return bias == nullptr ? v : v + element(bias, gate);
  }
};

/// Launches all steps of all layers. In one direction layers advance together, each one step behind
/// the layer below it. In two, a layer needs all of the one below: its products with weight_ih are
/// made for all steps at once, and the directions advance together.
/// @param weights  layers * directions of them, in the order of the states
/// @param c0  of an LSTM; else nullptr
/// @param sequence  the last layer's h of all steps, [steps, batch, directions * hidden], or
/// nullptr
/// @param h_n, c_n  the last states, or nullptr
template <Cell cell, class T>
void launch_recurrent(cudaStream_t stream, const RecurrentShape& s,
                      const std::vector<RecurrentWeights<T>>& weights, const T* x, const T* h0,
                      const T* c0, T* sequence, T* h_n, T* c_n) {
  const int64_t state = s.batch * s.hidden, states = s.layers * s.directions * state;
  const int64_t width = s.directions * s.hidden, step = s.batch * width;
  const int64_t x_step = s.batch_first ? s.in : s.batch * s.in;
  const int64_t x_stride = s.batch_first ? s.steps * s.in : s.in;
  if (s.steps <= 0 || states <= 0) return;
  T *cells = c_n, *scratch = nullptr, *sequences = nullptr;
  float* gates = nullptr;
  constexpr int64_t rows = cell_gates<cell>;
  cudaMallocAsync(&sequences, s.layers * s.steps * step * sizeof(T), stream);
  if (cell == Cell::lstm) {
    if (c_n == nullptr) cudaMallocAsync(&scratch, states * sizeof(T), stream);
    if (c_n == nullptr) cells = scratch;
    cudaMemcpyAsync(cells, c0, states * sizeof(T), cudaMemcpyDeviceToDevice, stream);
  }
  // The h of a layer at a step, of all directions.
  const auto h_at = [&](int64_t layer, int64_t t) {
    T* const own = sequences + layer * s.steps * step;
    return (layer == s.layers - 1 && sequence != nullptr ? sequence : own) + t * step;
  };
  // What every step has: the state before it comes from `previous`, or from h0 if that is no step.
  const auto make_step = [&](int64_t layer, int direction, int64_t t, int64_t previous) {
    const int64_t index = layer * s.directions + direction;
    RecurrentStep<T> one = {};
    one.weights = weights[index];
    const bool first = previous < 0 || previous >= s.steps;
    one.h_old = first ? h0 + index * state : h_at(layer, previous) + direction * s.hidden;
    one.h_old_stride = first ? s.hidden : width;
    one.h_new = h_at(layer, t) + direction * s.hidden;
    one.h_new_stride = width;
    one.c = cells == nullptr ? nullptr : cells + index * state;
    return one;
  };
  if (s.directions == 1) {
    for (int64_t diagonal = 0; diagonal < s.steps + s.layers - 1; ++diagonal) {
      const int64_t lowest = diagonal < s.steps ? 0 : diagonal - s.steps + 1;
      const int64_t end = diagonal + 1 < s.layers ? diagonal + 1 : s.layers;
      RecurrentSteps<T> steps = {};
      int64_t count = 0;
      for (int64_t layer = lowest; layer < end; ++layer) {
        const int64_t t = diagonal - layer;
        RecurrentStep<T>& one = steps.at[count++] = make_step(layer, 0, t, t - 1);
        one.in = layer == 0 ? x + t * x_step : h_at(layer - 1, t);
        one.in_size = layer == 0 ? s.in : s.hidden;
        one.in_stride = layer == 0 ? x_stride : s.hidden;
        if (count == RecurrentSteps<T>::most || layer == end - 1) {
          launch_recurrent_steps<cell>(stream, steps, count, s.batch, s.hidden);
          count = 0;
        }
      }
    }
  } else {
    const int64_t row = rows * s.hidden, all = s.steps * s.batch * row;
    cudaMallocAsync(&gates, s.directions * all * sizeof(float), stream);
    for (int64_t layer = 0; layer < s.layers; ++layer) {
      const ProductShape shape = {s.steps * s.batch, row, layer == 0 ? s.in : width};
      const T* const in = layer == 0 ? x : h_at(layer - 1, 0);
      for (int direction = 0; direction < s.directions; ++direction) {
        const RecurrentWeights<T>& w = weights[layer * s.directions + direction];
        launch_product(stream, shape, left(in, shape), right_transposed(w.weight_ih, shape),
                       store(gates + direction * all, shape, AddGateBias<T>{w.bias_ih}));
      }
      const bool by_samples = layer == 0 && s.batch_first;  // rows of gates
      for (int64_t i = 0; i < s.steps; ++i) {
        RecurrentSteps<T> steps = {};
        for (int direction = 0; direction < s.directions; ++direction) {
          const int64_t t = direction == 0 ? i : s.steps - 1 - i;
          RecurrentStep<T>& one = steps.at[direction] =
              make_step(layer, direction, t, direction == 0 ? t - 1 : t + 1);
          one.gates = gates + direction * all + t * (by_samples ? row : s.batch * row);
          one.gates_stride = by_samples ? s.steps * row : row;
        }
        launch_recurrent_steps<cell>(stream, steps, s.directions, s.batch, s.hidden);
      }
    }
    cudaFreeAsync(gates, stream);
  }
  for (int64_t index = 0; h_n != nullptr && index < s.layers * s.directions; ++index) {
    const int64_t layer = index / s.directions, direction = index % s.directions;
    cudaMemcpy2DAsync(h_n + index * state, s.hidden * sizeof(T),
                      h_at(layer, direction == 0 ? s.steps - 1 : 0) + direction * s.hidden,
                      width * sizeof(T), s.hidden * sizeof(T), s.batch, cudaMemcpyDeviceToDevice,
                      stream);
  }
  if (scratch != nullptr) cudaFreeAsync(scratch, stream);
  cudaFreeAsync(sequences, stream);
}

}  // namespace kb
