// How fast the convolutions of <kb/conv.cuh> are, next to cuDNN's in fp32 in the same run: layers
// of the networks of level 3, whose images are small, and tasks of level 1.
//   nvcc -std=c++17 -O3 -gencode arch=compute_90a,code=sm_90a -I harness/blocks/include
//     harness/tests/speed/conv_bench.cu -lcudnn -o conv_bench
//   ./conv_bench
// Per layer: milliseconds as launched, with one block for the whole depth of a tile, and of cuDNN;
// cuDNN's time as a multiple of the first; how far the results are apart, relative in the 2-norm.
// Exit code 1 if they are far apart or a call fails.
#include <cudnn.h>
#include <kb/conv.cuh>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "device_memory.cuh"

namespace {

using Shape = kb::ConvShape<2>;

void check(cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::printf("%s: %s\n", what, cudnnGetErrorString(status));
  std::exit(1);
}

/// cuDNN's convolution, with the algorithm that it proposes for fp32 without TF32.
class Library {
 public:
  explicit Library(const Shape& s) {
    const auto number = [](int64_t value) { return static_cast<int>(value); };
    check(cudnnCreate(&handle_), "cudnnCreate");
    check(cudnnCreateTensorDescriptor(&x_), "x");
    check(cudnnCreateTensorDescriptor(&y_), "y");
    check(cudnnCreateFilterDescriptor(&weight_), "weight");
    check(cudnnCreateConvolutionDescriptor(&conv_), "convolution");
    check(cudnnSetTensor4dDescriptor(x_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, number(s.batch),
                                     number(s.in_channels), number(s.in[0]), number(s.in[1])),
          "x");
    check(cudnnSetTensor4dDescriptor(y_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, number(s.batch),
                                     number(s.out_channels), number(s.out[0]), number(s.out[1])),
          "y");
    check(cudnnSetFilter4dDescriptor(weight_, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW,
                                     number(s.out_channels), number(s.in_channels / s.groups),
                                     number(s.kernel[0]), number(s.kernel[1])),
          "weight");
    check(cudnnSetConvolution2dDescriptor(conv_, number(s.padding[0]), number(s.padding[1]),
                                          number(s.stride[0]), number(s.stride[1]),
                                          number(s.dilation[0]), number(s.dilation[1]),
                                          CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
          "convolution");
    check(cudnnSetConvolutionGroupCount(conv_, number(s.groups)), "groups");
    check(cudnnSetConvolutionMathType(conv_, CUDNN_FMA_MATH), "math type");
    int found = 0;
    check(cudnnGetConvolutionForwardAlgorithm_v7(handle_, x_, weight_, conv_, y_, 1, &found,
                                                 &algorithm_),
          "algorithm");
    check(cudaMalloc(&workspace_, algorithm_.memory), "workspace");
  }
  ~Library() {
    cudaFree(workspace_);
    cudnnDestroyConvolutionDescriptor(conv_);
    cudnnDestroyFilterDescriptor(weight_);
    cudnnDestroyTensorDescriptor(y_);
    cudnnDestroyTensorDescriptor(x_);
    cudnnDestroy(handle_);
  }
  Library(const Library&) = delete;

  void launch(const float* x, const float* weight, float* y) {
    const float one = 1, zero = 0;
    check(cudnnConvolutionForward(handle_, &one, x_, x, weight_, weight, conv_, algorithm_.algo,
                                  workspace_, algorithm_.memory, &zero, y_, y),
          "cudnnConvolutionForward");
  }

 private:
  cudnnHandle_t handle_{};
  cudnnTensorDescriptor_t x_{}, y_{};
  cudnnFilterDescriptor_t weight_{};
  cudnnConvolutionDescriptor_t conv_{};
  cudnnConvolutionFwdAlgoPerf_t algorithm_{};
  void* workspace_ = nullptr;
};

/// Milliseconds of a call in the middle of 15.
template <class Launch>
float milliseconds(Launch launch) {
  constexpr int runs = 15;
  cudaEvent_t events[runs + 1];
  for (auto& event : events) check(cudaEventCreate(&event), "cudaEventCreate");
  for (int i = 0; i < 3; ++i) launch();
  cudaEventRecord(events[0]);
  for (int i = 0; i < runs; ++i) {
    launch();
    cudaEventRecord(events[i + 1]);
  }
  check(cudaDeviceSynchronize(), "convolution");
  std::vector<float> times(runs);
  for (int i = 0; i < runs; ++i) cudaEventElapsedTime(&times[i], events[i], events[i + 1]);
  for (auto& event : events) cudaEventDestroy(event);
  std::sort(times.begin(), times.end());
  return times[runs / 2];
}

double distance(const Memory& a, const Memory& b, int64_t n) {
  std::vector<float> x(n), y(n);
  check(cudaMemcpy(x.data(), a.data, n * sizeof(float), cudaMemcpyDeviceToHost), "results");
  check(cudaMemcpy(y.data(), b.data, n * sizeof(float), cudaMemcpyDeviceToHost), "results");
  double off = 0, all = 0;
  for (int64_t i = 0; i < n; ++i) {
    off += (double{x[i]} - y[i]) * (double{x[i]} - y[i]);
    all += double{y[i]} * y[i];
  }
  return std::sqrt(off / all);
}

/// The one kind of tiles that launch_any_conv() takes for most small images.
using Narrow = kb::ConvTile<32, 3, 2, 32, 104, 4>;

bool measure(const char* name, const Shape& s) {
  const int64_t x_size = s.batch * s.in_channels * s.in.product();
  const int64_t weight_size = s.out_channels * s.in_channels / s.groups * s.kernel.product();
  const int64_t y_size = s.batch * s.out_channels * s.out.product();
  Memory x(x_size), weight(weight_size), y(y_size), expected(y_size);
  fill<<<1024, 256>>>(x.data, x_size, 1, 1);
  fill<<<1024, 256>>>(weight.data, weight_size, 1, 2);
  Library library(s);
  const float theirs = milliseconds([&] { library.launch(x.data, weight.data, expected.data); });
  const kb::StorePixels<float, kb::AsIs> store{y.data, s.out_channels, s.out.product(), {}};
  const float one_part = milliseconds([&] {
    kb::launch_conv_tiles<Narrow, kb::convolution_arithmetic>(nullptr, s, false, x.data,
                                                              weight.data, store, 1);
  });
  cudaMemset(y.data, 0xFF, y_size * sizeof(float));
  const float ours =
      milliseconds([&] { kb::launch_conv(nullptr, s, x.data, weight.data, kb::AsIs{}, y.data); });
  const double error = distance(y, expected, y_size);
  const bool right = error < 1e-5;
  std::printf("%-44s %9.4f ms, narrow whole %9.4f, cuDNN %9.4f, ratio %5.2f, apart %.1e%s\n", name,
              ours, one_part, theirs, theirs / ours, error, right ? "" : "  WRONG");
  std::fflush(stdout);
  return right;
}

struct Layer {
  const char* name;
  Shape shape;
};

}  // namespace

int main() {
  using kb::conv_shape;
  const Layer layers[] = {
      {"densenet, 1x1, 1024 -> 128 at 7, batch 10", conv_shape<2>(10, 1024, 128, 7, 1)},
      {"densenet, 3x3, 128 -> 32 at 7, batch 10", conv_shape<2>(10, 128, 32, 7, 3, 1, 1)},
      {"densenet, 3x3, 512 -> 32 at 14, batch 10", conv_shape<2>(10, 512, 32, 14, 3, 1, 1)},
      {"densenet, 3x3, 256 -> 32 at 28, batch 10", conv_shape<2>(10, 256, 32, 28, 3, 1, 1)},
      {"densenet, 3x3, 128 -> 32 at 56, batch 10", conv_shape<2>(10, 128, 32, 56, 3, 1, 1)},
      {"densenet, 7x7, 3 -> 64 at 224, batch 10", conv_shape<2>(10, 3, 64, 224, 7, 2, 3)},
      {"resnet18, 3x3, 64 -> 64 at 56, batch 2", conv_shape<2>(2, 64, 64, 56, 3, 1, 1)},
      {"resnet18, 3x3, 128 -> 128 at 28, batch 2", conv_shape<2>(2, 128, 128, 28, 3, 1, 1)},
      {"resnet18, 3x3, 256 -> 256 at 14, batch 2", conv_shape<2>(2, 256, 256, 14, 3, 1, 1)},
      {"resnet18, 3x3, 512 -> 512 at 7, batch 2", conv_shape<2>(2, 512, 512, 7, 3, 1, 1)},
      {"vgg, 3x3, 512 -> 512 at 14, batch 10", conv_shape<2>(10, 512, 512, 14, 3, 1, 1)},
      {"vgg, 3x3, 64 -> 64 at 224, batch 10", conv_shape<2>(10, 64, 64, 224, 3, 1, 1)},
      {"level1, 3x3, 64 -> 128 at 256, batch 16", conv_shape<2>(16, 64, 128, 256, 3)},
      {"level1, 1x1, 64 -> 128 at 512, batch 4", conv_shape<2>(4, 64, 128, 512, 1)},
      {"lenet, 5x5, 1 -> 6 at 32, batch 4096", conv_shape<2>(4096, 1, 6, 32, 5)},
      {"lenet, 5x5, 6 -> 16 at 14, batch 4096", conv_shape<2>(4096, 6, 16, 14, 5)},
      {"few channels, 1x1, 32 -> 16 at 112, batch 10", conv_shape<2>(10, 32, 16, 112, 1)},
      {"few channels, 3x3, 8 -> 16 at 112, batch 10", conv_shape<2>(10, 8, 16, 112, 3, 1, 1)},
      {"few channels, 3x3, 32 -> 16 at 112, batch 10", conv_shape<2>(10, 32, 16, 112, 3, 1, 1)},
  };
  bool right = true;
  for (const Layer& layer : layers) right &= measure(layer.name, layer.shape);
  return right ? 0 : 1;
}
