// A CUDA feature per test, in plain CUDA C++: the same sources run on the CPU and, built by nvcc,
// on a GPU. The expected values come from host loops.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace conformance {

struct Feature {
  const char* name;
  void (*run)();
  Feature* next;
};
inline Feature*& features() {
  static Feature* first = nullptr;
  return first;
}
struct Registration {
  Feature feature;
  Registration(const char* name, void (*run)()) : feature{name, run, features()} {
    features() = &feature;
  }
};

inline int& failures() {
  static int count = 0;
  return count;
}
inline void fail(const char* file, int line, const char* what) {
  if (++failures() <= 10) std::printf("%s:%d: %s\n", file, line, what);
}

/// Device memory that starts with known contents.
template <class T>
class Buffer {
 public:
  explicit Buffer(const std::vector<T>& values) : size_(values.size()) {
    if (cudaMalloc(&data_, size_ * sizeof(T)) != cudaSuccess ||
        cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice) != cudaSuccess)
      fail(__FILE__, __LINE__, "cannot allocate device memory");
  }
  Buffer(size_t size, T value) : Buffer(std::vector<T>(size, value)) {}
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  operator T*() { return data_; }
  std::vector<T> read() const {
    std::vector<T> values(size_);
    if (cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess)
      fail(__FILE__, __LINE__, cudaGetErrorString(cudaGetLastError()));
    return values;
  }

 private:
  T* data_ = nullptr;
  size_t size_;
};

/// 0, 1, 2 ... and other cheap contents.
template <class T, class F>
std::vector<T> make(size_t size, F value) {
  std::vector<T> values(size);
  for (size_t i = 0; i < size; ++i) values[i] = static_cast<T>(value(static_cast<int>(i)));
  return values;
}

inline bool near(double got, double expected, double relative = 1e-5) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return got == expected;
  return std::fabs(got - expected) <= relative * (1 + std::fabs(expected));
}

}  // namespace conformance

#define KB_FEATURE(name)                                             \
  static void name();                                                \
  static conformance::Registration name##_registration{#name, name}; \
  static void name()

#define KB_EXPECT(condition) \
  ((condition) ? void(0) : conformance::fail(__FILE__, __LINE__, "expected " #condition))

#define KB_CUDA(call)                                                                      \
  do {                                                                                     \
    const cudaError_t kb_error = (call);                                                   \
    if (kb_error != cudaSuccess)                                                           \
      conformance::fail(__FILE__, __LINE__,                                                \
                        (#call ": " + std::string(cudaGetErrorString(kb_error))).c_str()); \
  } while (0)

#define KB_LAUNCHED()                 \
  do {                                \
    KB_CUDA(cudaGetLastError());      \
    KB_CUDA(cudaDeviceSynchronize()); \
  } while (0)
