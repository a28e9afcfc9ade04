// Layers of networks: where each reads and writes, what it adds, and the shapes that follow.
#include <functional>
#include <utility>

#include <kb/network.cuh>
#include <kb/softmax.cuh>  // only to see that it goes together with the headers of a network

#include "blocks.h"

namespace {

using kb::Activation;
using Map = kb::FeatureMapOf<float>;
using Net = kb::NetworkOf<float>;

/// Weights by name, as a candidate gets them.
class Table {
 public:
  void add(const char* name, const std::vector<int64_t>& shape, int seed) {
    int64_t n = 1;
    for (const int64_t extent : shape) n *= extent;
    values.push_back(signed_values<float>(n, seed));
    buffers_.push_back(std::make_unique<Buffer<float>>(values.back()));
    kb::Weight weight = {name, *buffers_.back(), static_cast<int>(shape.size()), {}};
    for (size_t i = 0; i < shape.size(); ++i) weight.shape[i] = shape[i];
    weights_.push_back(weight);
  }
  kb::Weights get() {
    constexpr size_t mask = 63;
    places_.assign(mask + 1, 0);
    for (size_t i = 0; i < weights_.size(); ++i) {
      size_t at = kb::Weights::hash(weights_[i].name) & mask;
      while (places_[at] != 0) at = (at + 1) & mask;
      places_[at] = static_cast<uint32_t>(i + 1);
    }
    return {weights_.data(), weights_.size(), places_.data(), mask};
  }

  std::vector<std::vector<float>> values;  ///< of each weight, in the order of add()

 private:
  std::vector<std::unique_ptr<Buffer<float>>> buffers_;
  std::vector<kb::Weight> weights_;
  std::vector<uint32_t> places_;
};

/// A map in 4 nested loops: value(sample, channel, row, column).
using Value = std::function<double(int64_t, int64_t, int64_t, int64_t)>;

void expect_map(const Map& map, const std::vector<float>& memory, const Value& value,
                double tolerance = 1e-5) {
  for (int64_t n = 0; n < map.samples; ++n) {
    for (int64_t c = 0; c < map.channels; ++c) {
      for (int64_t i = 0; i < map.area(); ++i) {
        const float got = memory[n * map.sample_stride + c * map.area() + i];
        KB_EXPECT(near(got, value(n, c, i / map.width, i % map.width), tolerance));
      }
    }
  }
}

constexpr int64_t N = 3, C = 5, H = 9, W = 7;

/// Signed values as a map of these sizes, and what they are on the host.
struct Image {
  std::vector<float> values;
  Buffer<float> device;
  Map map;
  explicit Image(int seed, int64_t channels = C, int64_t height = H, int64_t width = W)
      : values(signed_values<float>(N * channels * height * width, seed)),
        device(values),
        map(Net::output(device, N, channels, height, width)) {}
  double at(int64_t n, int64_t c, int64_t row, int64_t column) const {
    if (row < 0 || column < 0 || row >= map.height || column >= map.width) return 0;
    return values[((n * map.channels + c) * map.height + row) * map.width + column];
  }
};

std::vector<float> read(const Map& map) {
  std::vector<float> values(map.size());
  KB_CUDA(cudaDeviceSynchronize());
  KB_CUDA(
      cudaMemcpy(values.data(), map.data, values.size() * sizeof(float), cudaMemcpyDeviceToHost));
  return values;
}

double relu(double v) { return v > 0 ? v : 0; }

KB_FEATURE(network_convolutions_write_into_slices) {
  Table table;
  table.add("c.weight", {4, C, 3, 2}, 1);
  table.add("c.bias", {4}, 2);
  const kb::Weights weights = table.get();
  const Net net(weights, nullptr);
  const Image x(3), room(4, 6, 5, 8);
  net.conv_to(room.map.slice(1, 4), "c", x.map, {{2, 1}, {1, 1}}, Activation::relu);
  expect_map(room.map, room.device.read(), [&](int64_t n, int64_t c, int64_t row, int64_t column) {
    if (c < 1 || c > 4) return room.at(n, c, row, column);
    double sum = table.values[1][c - 1];
    for (int64_t k = 0; k < C; ++k) {
      for (int64_t p = 0; p < 3; ++p) {
        for (int64_t q = 0; q < 2; ++q) {
          sum += table.values[0][(((c - 1) * C + k) * 3 + p) * 2 + q] *
                 x.at(n, k, row * 2 - 1 + p, column - 1 + q);
        }
      }
    }
    return relu(sum);
  });
}

KB_FEATURE(network_depthwise_without_bias) {
  Table table;
  table.add("d.weight", {2 * C, 1, 3, 3}, 1);
  const kb::Weights weights = table.get();
  const Net net(weights, nullptr);
  const Image x(3);
  const Map y = net.depthwise("d", x.map, {1, 1, 1, false}, Activation::relu6);
  expect_map(y, read(y), [&](int64_t n, int64_t c, int64_t row, int64_t column) {
    double sum = 0;
    for (int64_t tap = 0; tap < 9; ++tap) {
      sum += table.values[0][c * 9 + tap] * x.at(n, c / 2, row + tap / 3 - 1, column + tap % 3 - 1);
    }
    return std::min(relu(sum), 6.0);
  });
}

KB_FEATURE(network_transposed_convolutions) {
  Table table;
  table.add("t.weight", {C, 3, 2, 2}, 1);
  table.add("t.bias", {3}, 2);
  const kb::Weights weights = table.get();
  const Net net(weights, nullptr);
  const Image x(3), room(4, 4, 2 * H, 2 * W);
  net.conv_transposed_to(room.map.slice(0, 3), "t", x.map, {2});
  expect_map(room.map, room.device.read(), [&](int64_t n, int64_t c, int64_t row, int64_t column) {
    if (c == 3) return room.at(n, c, row, column);
    double sum = table.values[1][c];
    for (int64_t k = 0; k < C; ++k) {
      sum += table.values[0][((k * 3 + c) * 2 + row % 2) * 2 + column % 2] *
             x.at(n, k, row / 2, column / 2);
    }
    return sum;
  });
}

/// Batch norm of x as upstream computes it.
class Normalised {
 public:
  Normalised(const Image& x, const Table& table) : x_(x), table_(table) {
    const Map& map = x.map;
    for (int64_t c = 0; c < map.channels; ++c) {
      double mean = 0, squares = 0;
      const auto for_each = [&](auto f) {
        for (int64_t i = 0; i < N * map.area(); ++i) {
          f(x.at(i / map.area(), c, i % map.area() / map.width, i % map.width));
        }
      };
      for_each([&](double v) { mean += v / double(N * map.area()); });
      for_each([&](double v) { squares += (v - mean) * (v - mean) / double(N * map.area()); });
      means_.push_back(mean);
      deviations_.push_back(std::sqrt(squares + 1e-5));
    }
  }
  double operator()(int64_t n, int64_t c, int64_t row, int64_t column) const {
    return (x_.at(n, c, row, column) - means_[c]) / deviations_[c] * table_.values[0][c] +
           table_.values[1][c];
  }

 private:
  const Image& x_;
  const Table& table_;
  std::vector<double> means_, deviations_;
};

// Small planes, whose channels have a block each, and large ones.
KB_FEATURE(network_batch_norm_of_slices_and_with_residual) {
  Table table;
  table.add("b.weight", {C}, 1);
  table.add("b.bias", {C}, 2);
  const kb::Weights weights = table.get();
  const Net net(weights, nullptr);
  for (const auto& [height, width] : {std::pair{H, W}, std::pair<int64_t, int64_t>{61, 47}}) {
    const Image x(3, C, height, width), residual(5, C, height, width), room(4, 7, height, width);
    net.batch_norm_to(room.map.slice(2, C), "b", x.map, Activation::relu, residual.map);
    const Normalised normalised(x, table);
    expect_map(
        room.map, room.device.read(), [&](int64_t n, int64_t c, int64_t row, int64_t column) {
          if (c < 2) return room.at(n, c, row, column);
          return relu(normalised(n, c - 2, row, column) + residual.at(n, c - 2, row, column));
        });
    const Image in_place(3, C, height, width);
    net.batch_norm("b", in_place.map);
    expect_map(in_place.map, in_place.device.read(), normalised);
  }
}

KB_FEATURE(network_pools) {
  Table none;
  const kb::Weights weights = none.get();
  const Net net(weights, nullptr);
  const Image x(3);
  const Map part = x.map.slice(1, 3);
  const auto best = [&](const kb::Pool& pool, int64_t n, int64_t c, int64_t row, int64_t column) {
    double result = -INFINITY;
    for (int64_t p = 0; p < pool.kernel; ++p) {
      for (int64_t q = 0; q < pool.kernel; ++q) {
        const int64_t r = row * pool.stride - pool.padding + p;
        const int64_t s = column * pool.stride - pool.padding + q;
        if (r < 0 || s < 0 || r >= H || s >= W) continue;
        result = std::max(result, x.at(n, c + 1, r, s));
      }
    }
    return result;
  };
  // Heights and widths as PyTorch has them; the last would begin in the padding and is left out.
  const std::pair<kb::Pool, std::pair<int64_t, int64_t>> cases[] = {
      {{3, 2, 1}, {5, 4}}, {{2, 2}, {4, 3}}, {{2, 2, 0, true}, {5, 4}}, {{2, 3, 1, true}, {4, 3}}};
  for (const auto& [pool, extent] : cases) {
    const Map y = net.max_pool(part, pool);
    KB_EXPECT(y.height == extent.first && y.width == extent.second);
    expect_map(y, read(y), [&, p = pool](auto... at) { return best(p, at...); });
  }
  const Map mean = net.avg_pool(part, {3, 2, 1});
  expect_map(mean, read(mean), [&](int64_t n, int64_t c, int64_t row, int64_t column) {
    double sum = 0;
    for (int64_t tap = 0; tap < 9; ++tap) {
      sum += x.at(n, c + 1, row * 2 - 1 + tap / 3, column * 2 - 1 + tap % 3);
    }
    return sum / 9;
  });
  const Map all = net.mean_pool(part);
  expect_map(all, read(all), [&](int64_t n, int64_t c, int64_t, int64_t) {
    double sum = 0;
    for (int64_t i = 0; i < H * W; ++i) sum += x.at(n, c + 1, i / W, i % W);
    return sum / (H * W);
  });
}

KB_FEATURE(network_rows) {
  Table table;
  table.add("l.weight", {4, C * H * W}, 1);
  table.add("l.bias", {4}, 2);
  table.add("n.weight", {C * H * W}, 5);
  table.add("n.bias", {C * H * W}, 6);
  const kb::Weights weights = table.get();
  const Net net(weights, nullptr);
  const Image x(3), residual(4, 4, 1, 1);
  const int64_t width = C * H * W;
  const Map rows = x.map.flat();
  // Those that are built into the stores, and one that is called.
  for (const Activation activation : {Activation::none, Activation::relu, Activation::sigmoid}) {
    const Map y = net.linear("l", rows, activation, residual.map);
    expect_map(
        y, read(y),
        [&](int64_t n, int64_t c, int64_t, int64_t) {
          double sum = table.values[1][c];
          for (int64_t k = 0; k < width; ++k) {
            sum += double{table.values[0][c * width + k]} * x.values[n * width + k];
          }
          if (activation == Activation::relu) sum = relu(sum);
          if (activation == Activation::sigmoid) sum = 1 / (1 + std::exp(-sum));
          return sum + residual.at(n, c, 0, 0);
        },
        1e-3);
  }
  const Map z = net.layer_norm("n", rows, 1e-3f);
  expect_map(z, read(z), [&](int64_t n, int64_t c, int64_t, int64_t) {
    double mean = 0, squares = 0;
    for (int64_t k = 0; k < width; ++k) mean += x.values[n * width + k] / double(width);
    for (int64_t k = 0; k < width; ++k) {
      squares += std::pow(x.values[n * width + k] - mean, 2) / double(width);
    }
    return (x.values[n * width + c] - mean) / std::sqrt(squares + 1e-3) * table.values[2][c] +
           table.values[3][c];
  });
}

KB_FEATURE(network_sums_and_gates) {
  Table none;
  const kb::Weights weights = none.get();
  const Net net(weights, nullptr);
  const Image x(3), y(4), gates(5, C, 1, 1);
  net.add(x.map, y.map, Activation::relu);
  net.scale(x.map, gates.map);
  expect_map(x.map, x.device.read(), [&](int64_t n, int64_t c, int64_t row, int64_t column) {
    return relu(x.at(n, c, row, column) + y.at(n, c, row, column)) * gates.at(n, c, 0, 0);
  });
}

}  // namespace
