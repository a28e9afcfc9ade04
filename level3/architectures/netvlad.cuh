// NetVLAD: what its tasks share. Included after task.h.
#pragma once

#include <kb/axis.cuh>
#include <kb/moments.cuh>
#include <kb/product.cuh>

// One warp per row: softmax over all columns of the normalised products; only the first
// num_clusters are kept.
__global__ void assign(task::Sizes s, int64_t columns, const kb::real* products,
                       const kb::Moments* moments, const kb::real* weight, const kb::real* bias,
                       kb::real* assignment) {
  const int64_t row = kb::Grid::rank() / 32, lane = threadIdx.x % 32;
  if (row >= s.batch_size * s.num_features) return;
  const auto value = [&](int64_t column) {
    const kb::Moments m = moments[column];
    const float scale = kb::element(weight, column) / sqrtf(m.variance() + 1e-5f);
    return (kb::element(products, row * columns + column) - m.mean) * scale +
           kb::element(bias, column);
  };
  float max = -INFINITY, sum = 0;
  for (int64_t c = lane; c < columns; c += 32) max = kb::Max{}(max, value(c));
  max = kb::combine(kb::Warp{}, max, kb::Max{});
  for (int64_t c = lane; c < columns; c += 32) sum += expf(value(c) - max);
  sum = kb::combine(kb::Warp{}, sum, kb::Sum{});
  for (int64_t c = lane; c < s.num_clusters; c += 32) {
    assignment[row * s.num_clusters + c] = static_cast<kb::real>(expf(value(c) - max) / sum);
  }
}

// One thread per (sample, cluster): the sum of its column.
__global__ void add_columns(task::Sizes s, const kb::real* assignment, float* sums) {
  const int64_t i = kb::Grid::rank(), k = s.num_clusters;
  if (i >= s.batch_size * k) return;
  float sum = 0;
  for (int64_t n = 0; n < s.num_features; ++n) {
    sum += kb::element(assignment, (i / k * s.num_features + n) * k + i % k);
  }
  sums[i] = sum;
}

struct SubtractCenter {
  const float* sums;
  const kb::real* clusters2;
  int64_t clusters;
  __device__ float operator()(float v, int64_t sample, int64_t feature, int64_t cluster) const {
    return v -
           sums[sample * clusters + cluster] * kb::element(clusters2, feature * clusters + cluster);
  }
};

// One block per sample, which keeps the reciprocal norms of its columns in shared memory. A group
// of threads shares a column.
__global__ void __launch_bounds__(256) normalise(task::Sizes s, const float* v, kb::real* y) {
  extern __shared__ float reciprocals[];
  __shared__ float parts[256];
  const int64_t k = s.num_clusters, size = s.feature_size * k;
  v += blockIdx.x * size;
  y += blockIdx.x * size;
  float all = 0;
  for (int64_t first = 0; first < k; first += blockDim.x) {
    const int64_t width = k - first < blockDim.x ? k - first : blockDim.x;
    const int64_t groups = blockDim.x / width, column = threadIdx.x % width;
    float sum = 0;
    if (threadIdx.x < groups * width) {
      for (int64_t row = threadIdx.x / width; row < s.feature_size; row += groups) {
        const float value = v[row * k + first + column];
        sum = fmaf(value, value, sum);
      }
    }
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x < width) {
      for (int64_t g = 1; g < groups; ++g) sum += parts[g * width + threadIdx.x];
      const float norm = fmaxf(sqrtf(sum), 1e-12f);
      reciprocals[first + threadIdx.x] = 1 / norm;
      all += sum / norm / norm;
    }
    __syncthreads();
  }
  all = kb::combine(kb::Block{}, all, kb::Sum{});
  const float scale = 1 / fmaxf(sqrtf(all), 1e-12f);
  for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
    y[i] = static_cast<kb::real>(v[i] * reciprocals[i % k] * scale);
  }
}

// columns: how many clusters there are, those included that are left out of y.
static void launch_netvlad(const task::Sizes& s, int64_t columns, const kb::real* x,
                           const kb::Weights& weights, kb::real* y, cudaStream_t stream) {
  using kb::real;
  const int64_t k = s.num_clusters, rows = s.batch_size * s.num_features;
  real *products, *assignment;
  kb::Moments* moments;
  float *sums, *v;
  cudaMallocAsync(&products, rows * columns * sizeof(real), stream);
  cudaMallocAsync(&assignment, rows * k * sizeof(real), stream);
  cudaMallocAsync(&moments, columns * sizeof(kb::Moments), stream);
  cudaMallocAsync(&sums, s.batch_size * k * sizeof(float), stream);
  cudaMallocAsync(&v, s.batch_size * s.feature_size * k * sizeof(float), stream);
  const kb::ProductShape by_clusters = {rows, columns, s.feature_size};
  kb::launch_product(stream, by_clusters, kb::left(x, by_clusters),
                     kb::right(weights["clusters"], by_clusters), kb::store(products, by_clusters));
  kb::launch_reduce_axis(stream, 1, rows, columns, kb::OnlineMoments{}, kb::Same{}, moments,
                         products);
  assign<<<(rows * 32 + 255) / 256, 256, 0, stream>>>(s, columns, products, moments,
                                                      weights["batch_norm.weight"],
                                                      weights["batch_norm.bias"], assignment);
  add_columns<<<(s.batch_size * k + 255) / 256, 256, 0, stream>>>(s, assignment, sums);
  const kb::ProductShape by_features = {s.feature_size, k, s.num_features, s.batch_size};
  const real* const weights_of_rows = assignment;
  kb::launch_product(stream, by_features, kb::left_transposed(x, by_features),
                     kb::right(weights_of_rows, by_features),
                     kb::store(v, by_features, SubtractCenter{sums, weights["clusters2"], k}));
  normalise<<<s.batch_size, 256, k * sizeof(float), stream>>>(s, v, y);
  for (void* memory :
       {static_cast<void*>(products), static_cast<void*>(assignment), static_cast<void*>(moments),
        static_cast<void*>(sums), static_cast<void*>(v)}) {
    cudaFreeAsync(memory, stream);
  }
}
