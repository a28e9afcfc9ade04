// How fast the recurrent layers of <kb/recurrent.cuh> are, next to a naive version in the same run:
// two launches for each step, layer and direction, one thread for each row of gates of a sample.
//   nvcc -std=c++17 -O3 -gencode arch=compute_90a,code=sm_90a -I harness/blocks/include
//     harness/tests/speed/recurrent_bench.cu -o recurrent_bench
//   ./recurrent_bench
// Per layer stack of level 3: milliseconds of both, the naive time as a multiple of the other, and
// the greatest difference of the last layer's outputs, which lie between -1 and 1. Exit code 1 if
// they are apart or a call fails.
#include <kb/recurrent.cuh>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "device_memory.cuh"

namespace {

using kb::Cell;
using kb::RecurrentShape;
using Weights = kb::RecurrentWeights<float>;

/// What a step of one layer in one direction reads and writes; rows are samples.
struct NaiveStep {
  Weights w;
  const float *in, *h_old;
  int64_t in_size, in_stride, h_old_stride, hidden, batch;
  float *from_in, *from_h;  ///< [batch, rows of gates]
  float *h_new, *c;
  int64_t h_new_stride;
};

__global__ void multiply_gates(NaiveStep s, int64_t rows) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x, sample = blockIdx.y;
  if (row >= rows) return;
  float in = s.w.bias_ih[row], h = s.w.bias_hh[row];
  for (int64_t i = 0; i < s.in_size; ++i) {
    in += s.w.weight_ih[row * s.in_size + i] * s.in[sample * s.in_stride + i];
  }
  for (int64_t i = 0; i < s.hidden; ++i) {
    h += s.w.weight_hh[row * s.hidden + i] * s.h_old[sample * s.h_old_stride + i];
  }
  s.from_in[sample * rows + row] = in;
  s.from_h[sample * rows + row] = h;
}

__device__ float sigmoid(float v) { return 1 / (1 + expf(-v)); }

template <Cell cell>
__global__ void finish_step(NaiveStep s, int64_t rows) {
  const int64_t unit = int64_t{blockIdx.x} * blockDim.x + threadIdx.x, sample = blockIdx.y;
  if (unit >= s.hidden) return;
  const float *const in = s.from_in + sample * rows + unit, *const h =
                                                                s.from_h + sample * rows + unit;
  const auto gate = [&](int64_t i) { return in[i * s.hidden] + h[i * s.hidden]; };
  float result;
  if constexpr (cell == Cell::tanh) {
    result = tanhf(gate(0));
  } else if constexpr (cell == Cell::lstm) {
    float& c = s.c[sample * s.hidden + unit];
    c = sigmoid(gate(1)) * c + sigmoid(gate(0)) * tanhf(gate(2));
    result = sigmoid(gate(3)) * tanhf(c);
  } else {
    const float fresh = tanhf(in[2 * s.hidden] + sigmoid(gate(0)) * h[2 * s.hidden]);
    const float update = sigmoid(gate(1));
    result = (1 - update) * fresh + update * s.h_old[sample * s.h_old_stride + unit];
  }
  s.h_new[sample * s.h_new_stride + unit] = result;
}

/// A stack with its weights, its input and both outputs, [steps, batch, directions * hidden].
template <Cell cell>
class Stack {
 public:
  explicit Stack(const RecurrentShape& s)
      : s_(s),
        width_(s.directions * s.hidden),
        rows_(kb::cell_gates<cell> * s.hidden),
        x_(s.steps * s.batch * s.in),
        h0_(s.layers * s.batch * width_),
        c0_(s.layers * s.batch * width_),
        cells_(s.layers * s.batch * width_),
        gates_(2 * s.batch * rows_),
        sequences_(s.layers * s.steps * s.batch * width_),
        result_(s.steps * s.batch * width_) {
    fill<<<256, 256>>>(x_.data, s.steps * s.batch * s.in, 1, 1);
    fill<<<256, 256>>>(h0_.data, s.layers * s.batch * width_, 1, 2);
    fill<<<256, 256>>>(c0_.data, s.layers * s.batch * width_, 1, 3);
    const float scale = 1 / std::sqrt(static_cast<float>(s.hidden));
    for (int64_t layer = 0; layer < s.layers; ++layer) {
      const int64_t in = layer == 0 ? s.in : width_;
      for (int64_t direction = 0; direction < s.directions; ++direction) {
        weights_.push_back({parameter(rows_ * in, scale), parameter(rows_ * s.hidden, scale),
                            parameter(rows_, scale), parameter(rows_, scale)});
      }
    }
  }

  void launch() {
    kb::launch_recurrent<cell, float>(nullptr, s_, weights_, x_.data, h0_.data,
                                      cell == Cell::lstm ? c0_.data : nullptr, result_.data,
                                      nullptr, nullptr);
  }

  void launch_naive() {
    const int64_t state = s_.batch * s_.hidden;
    cudaMemcpyAsync(cells_.data, c0_.data, s_.layers * s_.directions * state * sizeof(float),
                    cudaMemcpyDeviceToDevice);
    for (int64_t layer = 0; layer < s_.layers; ++layer) {
      float* const own = sequences_.data + layer * s_.steps * s_.batch * width_;
      for (int64_t direction = 0; direction < s_.directions; ++direction) {
        const int64_t index = layer * s_.directions + direction;
        for (int64_t i = 0; i < s_.steps; ++i) {
          const int64_t t = direction == 0 ? i : s_.steps - 1 - i,
                        before = direction == 0 ? t - 1 : t + 1;
          NaiveStep step = {};
          step.w = weights_[index];
          step.in = layer == 0 ? x_.data + t * s_.batch * s_.in
                               : own - s_.steps * s_.batch * width_ + t * s_.batch * width_;
          step.in_size = step.in_stride = layer == 0 ? s_.in : width_;
          step.h_old = i == 0 ? h0_.data + index * state
                              : own + before * s_.batch * width_ + direction * s_.hidden;
          step.h_old_stride = i == 0 ? s_.hidden : width_;
          step.hidden = s_.hidden;
          step.batch = s_.batch;
          step.from_in = gates_.data;
          step.from_h = gates_.data + s_.batch * rows_;
          step.h_new = own + t * s_.batch * width_ + direction * s_.hidden;
          step.h_new_stride = width_;
          step.c = cells_.data + index * state;
          const auto blocks = [&](int64_t n) {
            return dim3(static_cast<unsigned>((n + 127) / 128), static_cast<unsigned>(s_.batch));
          };
          multiply_gates<<<blocks(rows_), 128>>>(step, rows_);
          finish_step<cell><<<blocks(s_.hidden), 128>>>(step, rows_);
        }
      }
    }
  }

  /// The greatest difference of the last layer's outputs.
  double difference() const {
    const int64_t size = s_.steps * s_.batch * width_;
    std::vector<float> got(size), want(size);
    check(cudaMemcpy(got.data(), result_.data, size * sizeof(float), cudaMemcpyDeviceToHost),
          "copy");
    check(cudaMemcpy(want.data(), sequences_.data + (s_.layers - 1) * size, size * sizeof(float),
                     cudaMemcpyDeviceToHost),
          "copy");
    double most = 0;
    for (int64_t i = 0; i < size; ++i) {
      const double apart = std::fabs(double{got[i]} - want[i]);
      if (!(apart <= most)) most = apart;  // NaN, too
    }
    return most;
  }

 private:
  const float* parameter(int64_t size, float scale) {
    memory_.push_back(std::make_unique<Memory>(size));
    fill<<<256, 256>>>(memory_.back()->data, size, scale,
                       static_cast<unsigned>(100 + memory_.size()));
    return memory_.back()->data;
  }

  RecurrentShape s_;
  int64_t width_, rows_;
  Memory x_, h0_, c0_, cells_, gates_, sequences_, result_;
  std::vector<Weights> weights_;
  std::vector<std::unique_ptr<Memory>> memory_;
};

/// Milliseconds of a call, the least of some.
template <class F>
double time(F launch) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float least = INFINITY;
  for (int i = 0; i < 4; ++i) {
    float ms = 0;
    cudaEventRecord(begin);
    launch();
    check(cudaGetLastError(), "a launch");
    cudaEventRecord(end);
    check(cudaEventSynchronize(end), "a call");
    cudaEventElapsedTime(&ms, begin, end);
    least = std::min(least, ms);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return least;
}

template <Cell cell>
bool compare(const char* name, const RecurrentShape& s) {
  Stack<cell> stack(s);
  const double own = time([&] { stack.launch(); }), naive = time([&] { stack.launch_naive(); });
  const double difference = stack.difference();
  std::printf("%-40s %9.3f ms, naive %9.3f, ratio %5.2f, apart %.1e\n", name, own, naive,
              naive / own, difference);
  return difference < 1e-3;  // false for NaN
}

}  // namespace

int main() {
  // As the runner sets up the pool of a candidate.
  cudaMemPool_t pool;
  check(cudaDeviceGetDefaultMemPool(&pool, 0), "the memory pool");
  uint64_t kept = uint64_t{1} << 30;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept), "the memory pool");
  const RecurrentShape one = {512, 10, 128, 256, 6, 1, false},
                       two = {512, 10, 128, 256, 6, 2, false};
  bool right =
      compare<Cell::tanh>("034: RNN, 256 steps, 1024 -> 256", {256, 8, 1024, 256, 1, 1, false});
  right &= compare<Cell::lstm>("035 to 037: LSTM, 6 layers of 256", one);
  right &= compare<Cell::lstm>("038: the same in two directions", two);
  right &= compare<Cell::gru>("039, 040: GRU, 6 layers of 256", one);
  right &= compare<Cell::gru>("041, 042: the same in two directions", two);
  return right ? 0 : 1;
}
