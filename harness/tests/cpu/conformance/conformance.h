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

/// What the feature that runs has failed, one line each: "launches.cu:12: expected ...".
inline std::vector<std::string>& failures() {
  static std::vector<std::string> lines;
  return lines;
}
inline void fail(const char* file, int line, const std::string& what) {
  const std::string path = file;
  failures().push_back(path.substr(path.rfind('/') + 1) + ":" + std::to_string(line) + ": " + what);
}
inline void expect_error(cudaError_t got, cudaError_t expected, const char* file, int line,
                         const char* call) {
  if (got != expected)
    fail(file, line,
         std::string(call) + " is " + cudaGetErrorName(got) + ", expected " +
             cudaGetErrorName(expected));
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

/// Names both codes when they differ.
#define KB_EXPECT_ERROR(call, expected) \
  conformance::expect_error((call), (expected), __FILE__, __LINE__, #call)
#define KB_CUDA(call) KB_EXPECT_ERROR(call, cudaSuccess)

#define KB_LAUNCHED()                 \
  do {                                \
    KB_CUDA(cudaGetLastError());      \
    KB_CUDA(cudaDeviceSynchronize()); \
  } while (0)
