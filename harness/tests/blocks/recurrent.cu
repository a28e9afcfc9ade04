// Stacks of recurrent layers against the definition, step by step.
#include <memory>

#include <kb/recurrent.cuh>

#include "blocks.h"

namespace {

using kb::Cell;

struct Case {
  int64_t steps, batch, in, hidden, layers;
  int directions;
  bool batch_first;
};

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

/// One layer and direction on the host.
struct Layer {
  std::vector<float> ih, hh, bias_ih, bias_hh;
  Buffer<float> device_ih, device_hh, device_bias_ih, device_bias_hh;
  Layer(int64_t rows, int64_t in, int64_t hidden, int seed)
      : ih(small(rows * in, seed)),
        hh(small(rows * hidden, seed + 1)),
        bias_ih(small(rows, seed + 2)),
        bias_hh(small(rows, seed + 3)),
        device_ih(ih),
        device_hh(hh),
        device_bias_ih(bias_ih),
        device_bias_hh(bias_hh) {}
  static std::vector<float> small(int64_t n, int seed) {
    std::vector<float> values = signed_values<float>(n, seed);
    for (float& v : values) v /= 4;
    return values;
  }
};

/// What a layer gives to gates: rows of weight times v, and the bias.
std::vector<double> gates(const std::vector<float>& weight, const std::vector<float>& bias,
                          const std::vector<double>& v) {
  std::vector<double> result(bias.begin(), bias.end());
  for (size_t row = 0; row < bias.size(); ++row) {
    for (size_t k = 0; k < v.size(); ++k) result[row] += double{weight[row * v.size() + k]} * v[k];
  }
  return result;
}

/// h and c after a step.
template <Cell cell>
void advance(const Layer& layer, const std::vector<double>& x, std::vector<double>& h,
             std::vector<double>& c) {
  const std::vector<double> a = gates(layer.ih, layer.bias_ih, x);
  const std::vector<double> b = gates(layer.hh, layer.bias_hh, h);
  const size_t n = h.size();
  for (size_t i = 0; i < n; ++i) {
    if constexpr (cell == Cell::lstm) {
      c[i] = sigmoid(a[n + i] + b[n + i]) * c[i] +
             sigmoid(a[i] + b[i]) * std::tanh(a[2 * n + i] + b[2 * n + i]);
      h[i] = sigmoid(a[3 * n + i] + b[3 * n + i]) * std::tanh(c[i]);
    } else if constexpr (cell == Cell::gru) {
      const double fresh = std::tanh(a[2 * n + i] + sigmoid(a[i] + b[i]) * b[2 * n + i]);
      const double kept = sigmoid(a[n + i] + b[n + i]);
      h[i] = (1 - kept) * fresh + kept * h[i];
    } else {
      h[i] = std::tanh(a[i] + b[i]);
    }
  }
}

template <Cell cell>
void expect_recurrent(const Case& s) {
  const int64_t rows = kb::cell_gates<cell> * s.hidden, width = s.directions * s.hidden;
  std::vector<std::unique_ptr<Layer>> layers;
  std::vector<kb::RecurrentWeights<float>> weights;
  for (int64_t i = 0; i < s.layers * s.directions; ++i) {
    layers.push_back(std::make_unique<Layer>(rows, i < s.directions ? s.in : width, s.hidden,
                                             static_cast<int>(7 * i)));
    Layer& l = *layers.back();
    weights.push_back({l.device_ih, l.device_hh, l.device_bias_ih, l.device_bias_hh});
  }
  const int64_t state = s.batch * s.hidden, states = s.layers * s.directions * state;
  const auto x = signed_values<float>(s.steps * s.batch * s.in, 1);
  const auto h0 = signed_values<float>(states, 2), c0 = signed_values<float>(states, 3);
  Buffer<float> device_x(x), device_h0(h0), device_c0(c0);
  Buffer<float> sequence(s.steps * s.batch * width, 0.f), h_n(states, 0.f), c_n(states, 0.f);
  const kb::RecurrentShape shape = {s.steps,  s.batch,      s.in,         s.hidden,
                                    s.layers, s.directions, s.batch_first};
  kb::launch_recurrent<cell, float>(nullptr, shape, weights, device_x, device_h0, device_c0,
                                    sequence, h_n, c_n);
  KB_LAUNCHED();
  const auto got = sequence.read(), got_h = h_n.read(), got_c = c_n.read();
  for (int64_t b = 0; b < s.batch; ++b) {
    std::vector<std::vector<double>> in(s.steps);
    for (int64_t t = 0; t < s.steps; ++t) {
      const float* const row =
          x.data() + (s.batch_first ? b * s.steps + t : t * s.batch + b) * s.in;
      in[t].assign(row, row + s.in);
    }
    for (int64_t i = 0; i < s.layers; ++i) {
      std::vector<std::vector<double>> out(s.steps);
      for (int d = 0; d < s.directions; ++d) {
        const int64_t index = i * s.directions + d, at = index * state + b * s.hidden;
        std::vector<double> h(h0.begin() + at, h0.begin() + at + s.hidden);
        std::vector<double> c(c0.begin() + at, c0.begin() + at + s.hidden);
        std::vector<std::vector<double>> own(s.steps);
        for (int64_t k = 0; k < s.steps; ++k) {
          const int64_t t = d == 0 ? k : s.steps - 1 - k;
          advance<cell>(*layers[index], in[t], h, c);
          own[t] = h;
        }
        for (int64_t t = 0; t < s.steps; ++t) {
          out[t].insert(out[t].end(), own[t].begin(), own[t].end());
        }
        for (int64_t k = 0; k < s.hidden; ++k) {
          KB_EXPECT(near(got_h[at + k], h[k], 1e-4));
          if (cell == Cell::lstm) KB_EXPECT(near(got_c[at + k], c[k], 1e-4));
        }
      }
      in = out;
    }
    for (int64_t t = 0; t < s.steps; ++t) {
      for (int64_t k = 0; k < width; ++k) {
        KB_EXPECT(near(got[(t * s.batch + b) * width + k], in[t][k], 1e-4));
      }
    }
  }
}

KB_FEATURE(recurrent_in_one_direction) {
  expect_recurrent<Cell::lstm>({5, 3, 7, 9, 3, 1, true});
  expect_recurrent<Cell::gru>(
      {4, 12, 5, 6, 2, 1, false});  // more samples than a warp takes at a time
  expect_recurrent<Cell::tanh>({3, 2, 4, 5, 20, 1, false});  // more layers than a launch
}

KB_FEATURE(recurrent_in_two_directions) {
  expect_recurrent<Cell::lstm>({5, 3, 7, 9, 2, 2, true});
  expect_recurrent<Cell::gru>({4, 2, 5, 33, 2, 2, false});
  expect_recurrent<Cell::gru>({1, 1, 1, 1, 1, 2, false});
}

}  // namespace
