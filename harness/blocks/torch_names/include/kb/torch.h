// Names of PyTorch's C++ interface for kernels that were written as its extensions: tensors that
// know their sizes and strides, memory for them, checks, the current stream. Of PyTorch's operators
// it holds what a kernel's last step needs: arithmetic with a number, sum and mean of all elements.
// Some others have their names here, since extensions fall back to them, and end the program.
//
// A tensor's memory comes from the stream's own pool and goes back with its last handle, in the
// order of the stream. What fails ends the program with a message.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <kb/contract.h>

#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kb::torch_names {

/// A message that grows by whatever a check is given, like a stream but quicker to compile.
class Message {
 public:
  Message& operator<<(const char* text) {
    text_ += text;
    return *this;
  }
  Message& operator<<(const std::string& text) {
    text_ += text;
    return *this;
  }
  Message& operator<<(bool value) {
    text_ += value ? "true" : "false";
    return *this;
  }
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Message& operator<<(T value) {
    char digits[40];
    if constexpr (std::is_integral_v<T>) {
      std::snprintf(digits, sizeof digits, "%lld", static_cast<long long>(value));
    } else {
      std::snprintf(digits, sizeof digits, "%g", static_cast<double>(value));
    }
    text_ += digits;
    return *this;
  }
  template <class T, std::enable_if_t<std::is_enum_v<T>, int> = 0>
  Message& operator<<(T value) {
    return *this << static_cast<int64_t>(value);
  }
  template <class T>
  Message& operator<<(const std::vector<T>& values) {
    text_ += "[";
    for (size_t i = 0; i < values.size(); ++i) *this << (i > 0 ? ", " : "") << values[i];
    text_ += "]";
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

[[noreturn]] inline void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
}

template <class... Parts>
[[noreturn]] void fail_check(const char* condition, const Parts&... parts) {
  Message message;
  (message << ... << parts);
  fail(message.text().empty() ? std::string("TORCH_CHECK failed: ") + condition : message.text());
}

/// What an extension calls that is not here.
[[noreturn]] inline void fail_operator(const char* name) {
  fail(std::string("the extension calls PyTorch's operator ") + name + " for this size");
}

inline void check_cuda(cudaError_t error, const char* what) {
  if (error != cudaSuccess) fail(std::string(what) + ": " + cudaGetErrorString(error));
}

/// What launch() was called with; the calls below use it.
struct Call {
  cudaStream_t stream = nullptr;
  void* output = nullptr;  // where the first tensor of the output's type and size lies
  int64_t output_numel = -1;
  int output_type = -1;
};
inline Call& call() {
  static Call current;
  return current;
}
/// The stream of launch(), for kernels that were launched on PyTorch's default stream.
inline cudaStream_t stream() { return call().stream; }

}  // namespace kb::torch_names

// Not namespaces of these names: nothing that a candidate defines may pass for another library's.
namespace kb::torch_names::names {}
namespace c10 = kb::torch_names::names;
namespace at = kb::torch_names::names;
namespace torch = kb::torch_names::names;

namespace kb::torch_names::names {

enum class ScalarType : int { Byte, Char, Short, Int, Long, Half, Float, Double, Bool, BFloat16 };
constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte, kChar = ScalarType::Char,
                     kInt8 = ScalarType::Char, kShort = ScalarType::Short,
                     kInt16 = ScalarType::Short, kInt = ScalarType::Int, kInt32 = ScalarType::Int,
                     kLong = ScalarType::Long, kInt64 = ScalarType::Long, kHalf = ScalarType::Half,
                     kFloat16 = ScalarType::Half, kFloat = ScalarType::Float,
                     kFloat32 = ScalarType::Float, kDouble = ScalarType::Double,
                     kFloat64 = ScalarType::Double, kBool = ScalarType::Bool,
                     kBFloat16 = ScalarType::BFloat16;

inline int64_t elementSize(ScalarType type) {
  constexpr int64_t bytes[] = {1, 1, 2, 4, 8, 2, 4, 8, 1, 2};
  return bytes[static_cast<int>(type)];
}
inline const char* toString(ScalarType type) {
  constexpr const char* names[] = {"Byte", "Char",  "Short",  "Int",  "Long",
                                   "Half", "Float", "Double", "Bool", "BFloat16"};
  return names[static_cast<int>(type)];
}
inline kb::torch_names::Message& operator<<(kb::torch_names::Message& message, ScalarType type) {
  return message << toString(type);
}
inline bool isFloatingType(ScalarType type) {
  return type == kFloat || type == kDouble || type == kHalf || type == kBFloat16;
}

/// 16 bits that compute as float, as PyTorch's do.
struct Half {
  __half value;
  Half() = default;
  __host__ __device__ Half(float v) : value(__float2half(v)) {}
  __host__ __device__ operator float() const { return __half2float(value); }
  __host__ __device__ Half& operator+=(float v) { return *this = Half(float(*this) + v); }
  __host__ __device__ Half& operator-=(float v) { return *this = Half(float(*this) - v); }
  __host__ __device__ Half& operator*=(float v) { return *this = Half(float(*this) * v); }
  __host__ __device__ Half& operator/=(float v) { return *this = Half(float(*this) / v); }
};

template <class T>
constexpr int type_code() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, uint8_t>) return int(kByte);
  if constexpr (std::is_same_v<U, int8_t>) return int(kChar);
  if constexpr (std::is_same_v<U, int16_t>) return int(kShort);
  if constexpr (std::is_same_v<U, int32_t>) return int(kInt);
  if constexpr (std::is_integral_v<U> && std::is_signed_v<U> && sizeof(U) == 8) return int(kLong);
  if constexpr (std::is_same_v<U, Half> || std::is_same_v<U, __half>) return int(kHalf);
  if constexpr (std::is_same_v<U, float>) return int(kFloat);
  if constexpr (std::is_same_v<U, double>) return int(kDouble);
  if constexpr (std::is_same_v<U, bool>) return int(kBool);
  return -1;
}

enum class DeviceType : int { CPU, CUDA };
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
enum class MemoryFormat { Contiguous, Preserve };

class Device {
 public:
  Device(DeviceType type = kCUDA, int index = 0) : type_(type), index_(index) {}
  DeviceType type() const { return type_; }
  int index() const { return index_; }
  bool is_cuda() const { return type_ == kCUDA; }
  bool is_cpu() const { return type_ == kCPU; }
  bool operator==(const Device& o) const { return type_ == o.type_ && index_ == o.index_; }
  bool operator!=(const Device& o) const { return !(*this == o); }

 private:
  DeviceType type_;
  int index_;
};

/// Sizes or strides that somebody else holds.
class IntArrayRef {
 public:
  IntArrayRef() = default;
  IntArrayRef(const int64_t* data, size_t size) : data_(data), size_(size) {}
  IntArrayRef(const std::vector<int64_t>& v) : data_(v.data()), size_(v.size()) {}
  IntArrayRef(const int64_t& one) : data_(&one), size_(1) {}
  // Like PyTorch's: the list outlives the expression that it is an argument of.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  IntArrayRef(const std::initializer_list<int64_t>& v) : data_(v.begin()), size_(v.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  const int64_t* begin() const { return data_; }
  const int64_t* end() const { return data_ + size_; }
  const int64_t* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t operator[](size_t i) const { return data_[i]; }
  int64_t front() const { return data_[0]; }
  int64_t back() const { return data_[size_ - 1]; }
  std::vector<int64_t> vec() const { return {begin(), end()}; }
  bool equals(IntArrayRef o) const { return std::equal(begin(), end(), o.begin(), o.end()); }
  friend bool operator==(IntArrayRef a, IntArrayRef b) { return a.equals(b); }
  friend bool operator!=(IntArrayRef a, IntArrayRef b) { return !a.equals(b); }

 private:
  const int64_t* data_ = nullptr;
  size_t size_ = 0;
};
inline kb::torch_names::Message& operator<<(kb::torch_names::Message& m, IntArrayRef v) {
  return m << v.vec();
}

struct nullopt_t {};
constexpr nullopt_t nullopt{};
template <class T>
class optional {
 public:
  optional() = default;
  optional(nullopt_t) {}
  optional(T value) : value_(std::move(value)), has_(true) {}
  bool has_value() const { return has_; }
  explicit operator bool() const { return has_; }
  const T& value() const {
    if (!has_) kb::torch_names::fail("bad optional access");
    return value_;
  }
  T value_or(T other) const { return has_ ? value_ : other; }
  const T& operator*() const { return value(); }
  const T* operator->() const { return &value(); }

 private:
  T value_{};
  bool has_ = false;
};

class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType type) : type_(type) {}
  TensorOptions(Device) {}
  TensorOptions(DeviceType type) { *this = device(Device(type)); }
  TensorOptions dtype(ScalarType type) const {
    TensorOptions o = *this;
    o.type_ = type;
    return o;
  }
  ScalarType dtype() const { return type_; }
  // There is one device, no gradient and one layout.
  TensorOptions device(Device where) const {
    if (!where.is_cuda()) kb::torch_names::fail("tensors in the host's memory are not supported");
    return *this;
  }
  TensorOptions device(DeviceType type, int = 0) const { return device(Device(type)); }
  TensorOptions requires_grad(bool) const { return *this; }
  TensorOptions memory_format(MemoryFormat) const { return *this; }

 private:
  ScalarType type_ = kFloat;
};

/// Memory on the device, freed with its last handle.
class Storage {
 public:
  Storage() = default;
  Storage(void* data, bool owned) : data_(data), owned_(owned) {
    if (owned) users_ = new int64_t(1);
  }
  Storage(const Storage& o) : data_(o.data_), users_(o.users_), owned_(o.owned_) {
    if (users_ != nullptr) ++*users_;
  }
  Storage(Storage&& o) noexcept { swap(o); }
  Storage& operator=(Storage o) noexcept {
    swap(o);
    return *this;
  }
  ~Storage() {
    if (users_ == nullptr || --*users_ > 0) return;
    delete users_;
    if (data_ != nullptr) cudaFreeAsync(data_, kb::torch_names::stream());
  }
  void* data() const { return data_; }

 private:
  void swap(Storage& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(users_, o.users_);
    std::swap(owned_, o.owned_);
  }
  void* data_ = nullptr;
  int64_t* users_ = nullptr;
  bool owned_ = false;
};

struct Layout {
  static constexpr int most = 8;
  int rank;
  int64_t size[most], stride[most];
};

template <class T>
__global__ void fill_elements(T* y, int64_t n, T value) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) y[i] = value;
}

/// y gets the elements of x in the order of their indices; both have the same sizes.
template <class T>
__global__ void copy_elements(T* y, const T* x, int64_t n, Layout to, Layout from) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    int64_t rest = i, source = 0, target = 0;
    for (int d = from.rank - 1; d >= 0; --d) {
      const int64_t index = rest % from.size[d];
      source += index * from.stride[d];
      target += index * to.stride[d];
      rest /= from.size[d];
    }
    y[target] = x[source];
  }
}

/// Each block of 256 threads gives its part of the sum, divided by a number.
template <class T, class Sum>
__global__ void add_up(const T* x, int64_t n, Sum* parts, double divisor) {
  __shared__ double sums[256];
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  double sum = 0;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) sum += x[i];
  sums[threadIdx.x] = sum;
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = static_cast<Sum>(sums[0] / divisor);
}

inline unsigned blocks_for(int64_t n) {
  return static_cast<unsigned>(std::min<int64_t>((n + 255) / 256, 65535));
}

class Tensor {
 public:
  Tensor() = default;
  /// A tensor without gaps in memory that somebody else frees.
  Tensor(const void* data, ScalarType type, IntArrayRef sizes)
      : storage_(const_cast<void*>(data), false), data_(const_cast<void*>(data)), type_(type) {
    set_sizes(sizes);
  }
  /// A new tensor, whose elements are what was in the memory.
  Tensor(IntArrayRef sizes, TensorOptions options) : type_(options.dtype()) {
    set_sizes(sizes);
    kb::torch_names::Call& call = kb::torch_names::call();
    if (call.output != nullptr && call.output_type == int(type_) && call.output_numel == numel()) {
      storage_ = Storage(call.output, false);
      call.output = nullptr;
    } else if (nbytes() > 0) {
      void* memory = nullptr;
      const auto bytes = static_cast<size_t>(nbytes());
      kb::torch_names::check_cuda(cudaMallocAsync(&memory, bytes, call.stream), "torch::empty");
      storage_ = Storage(memory, true);
    }
    data_ = storage_.data();
  }

  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  ~Tensor() = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  // As in PyTorch, `x[0] = y` writes elements, while `x = y` makes x another tensor.
  void operator=(const Tensor& x) && { copy_(x); }
  void operator=(double value) && { fill_(value); }

  bool defined() const { return defined_; }
  int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t ndimension() const { return dim(); }
  int64_t size(int64_t d) const { return sizes_[axis(d)]; }
  int64_t stride(int64_t d) const { return strides_[axis(d)]; }
  IntArrayRef sizes() const { return sizes_; }
  IntArrayRef strides() const { return strides_; }
  int64_t numel() const {
    int64_t n = 1;
    for (const int64_t extent : sizes_) n *= extent;
    return n;
  }
  int64_t element_size() const { return elementSize(type_); }
  int64_t itemsize() const { return element_size(); }
  int64_t nbytes() const { return numel() * element_size(); }
  ScalarType scalar_type() const { return type_; }
  ScalarType dtype() const { return type_; }
  ScalarType type() const { return type_; }
  TensorOptions options() const { return TensorOptions(type_); }
  Device device() const { return Device(kCUDA); }
  int64_t get_device() const { return 0; }
  bool is_cuda() const { return true; }
  bool is_cpu() const { return false; }
  bool requires_grad() const { return false; }
  bool is_floating_point() const { return isFloatingType(type_); }
  bool is_same(const Tensor& o) const { return data_ == o.data_ && sizes_ == o.sizes_; }

  bool is_contiguous(MemoryFormat = MemoryFormat::Contiguous) const {
    int64_t wanted = 1;
    for (int64_t d = dim() - 1; d >= 0; --d) {
      if (sizes_[d] != 1 && strides_[d] != wanted) return false;
      wanted *= sizes_[d];
    }
    return true;
  }

  template <class T>
  T* data_ptr() const {
    static_assert(type_code<T>() >= 0, "no tensor has elements of this type");
    if (type_code<T>() != int(type_)) {
      kb::torch_names::fail_check("", "expected scalar type ", ScalarType(type_code<T>()),
                                  " but found ", type_);
    }
    return static_cast<T*>(data_);
  }
  void* data_ptr() const { return data_; }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }

  Tensor view(IntArrayRef wanted) const {
    if (!is_contiguous()) kb::torch_names::fail("view() of a tensor with gaps; use reshape()");
    std::vector<int64_t> sizes = wanted.vec();
    int64_t known = 1, open = -1;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] == -1) {
        open = static_cast<int64_t>(d);
      } else {
        known *= sizes[d];
      }
    }
    if (open >= 0 && known != 0) sizes[static_cast<size_t>(open)] = numel() / known;
    Tensor y = *this;
    y.set_sizes(sizes);
    if (y.numel() != numel()) {
      kb::torch_names::fail_check("", "shape ", sizes, " is invalid for ", numel(), " elements");
    }
    return y;
  }
  Tensor reshape(IntArrayRef sizes) const { return contiguous().view(sizes); }
  Tensor view_as(const Tensor& o) const { return view(o.sizes()); }
  Tensor flatten(int64_t first = 0, int64_t last = -1) const {
    if (dim() == 0) return view({1});
    std::vector<int64_t> sizes;
    const int64_t from = int64_t(axis(first)), to = int64_t(axis(last));
    for (int64_t d = 0; d < dim(); ++d) {
      if (d > from && d <= to) {
        sizes.back() *= sizes_[d];
      } else {
        sizes.push_back(sizes_[d]);
      }
    }
    return reshape(sizes);
  }
  Tensor permute(IntArrayRef order) const {
    Tensor y = *this;
    for (size_t d = 0; d < order.size(); ++d) {
      y.sizes_[d] = size(order[d]);
      y.strides_[d] = stride(order[d]);
    }
    return y;
  }
  Tensor transpose(int64_t a, int64_t b) const {
    Tensor y = *this;
    std::swap(y.sizes_[axis(a)], y.sizes_[axis(b)]);
    std::swap(y.strides_[axis(a)], y.strides_[axis(b)]);
    return y;
  }
  Tensor t() const { return dim() < 2 ? *this : transpose(0, 1); }
  Tensor squeeze() const {
    Tensor y = *this;
    for (int64_t d = dim() - 1; d >= 0; --d) {
      if (y.size(d) == 1) y = y.squeeze(d);
    }
    return y;
  }
  Tensor squeeze(int64_t d) const {
    Tensor y = *this;
    if (size(d) != 1) return y;
    y.sizes_.erase(y.sizes_.begin() + int64_t(axis(d)));
    y.strides_.erase(y.strides_.begin() + int64_t(axis(d)));
    return y;
  }
  Tensor unsqueeze(int64_t d) const {
    Tensor y = *this;
    if (d < 0) d += dim() + 1;
    const int64_t stride = d < dim() ? sizes_[d] * strides_[d] : 1;
    y.sizes_.insert(y.sizes_.begin() + d, 1);
    y.strides_.insert(y.strides_.begin() + d, stride);
    return y;
  }

  /// Part of one dimension, in the same memory.
  Tensor slice(int64_t d, int64_t start, int64_t end, int64_t step = 1) const {
    Tensor y = *this;
    const size_t a = axis(d);
    const auto bound = [&](int64_t i) {
      return std::clamp<int64_t>(i < 0 ? i + sizes_[a] : i, 0, sizes_[a]);
    };
    start = bound(start);
    end = std::max(start, bound(end));
    if (step < 1) kb::torch_names::fail("slice() needs a positive step");
    y.sizes_[a] = (end - start + step - 1) / step;
    y.strides_[a] *= step;
    y.data_ = static_cast<char*>(data_) + start * strides_[a] * element_size();
    return y;
  }
  Tensor narrow(int64_t d, int64_t start, int64_t length) const {
    if (start < 0) start += size(d);
    if (start < 0 || length < 0 || start + length > size(d)) {
      kb::torch_names::fail("narrow() needs a range within the dimension");
    }
    return slice(d, start, start + length);
  }
  Tensor select(int64_t d, int64_t index) const {
    return slice(d, index, index + 1 == 0 ? size(d) : index + 1).squeeze(d);
  }

  Tensor operator[](int64_t index) const { return select(0, index); }

  Tensor contiguous(MemoryFormat = MemoryFormat::Contiguous) const {
    return is_contiguous() ? *this : clone();
  }
  Tensor clone(MemoryFormat = MemoryFormat::Contiguous) const {
    Tensor y(sizes_, options());
    return y.copy_(*this);
  }
  Tensor detach() const { return *this; }
  Tensor cuda() const { return *this; }
  Tensor to(ScalarType type) const {
    if (type != type_) {
      kb::torch_names::fail("conversions of a tensor's element type are not supported");
    }
    return *this;
  }
  Tensor to(Device where) const {
    if (!where.is_cuda()) kb::torch_names::fail("tensors in the host's memory are not supported");
    return *this;
  }

  const Tensor& zero_() const {
    if (!is_contiguous()) kb::torch_names::fail("zero_() of a tensor with gaps is not supported");
    if (nbytes() > 0) {
      kb::torch_names::check_cuda(
          cudaMemsetAsync(data_, 0, static_cast<size_t>(nbytes()), kb::torch_names::stream()),
          "zero_");
    }
    return *this;
  }
  const Tensor& fill_(double value) const {
    if (!is_contiguous()) kb::torch_names::fail("fill_() of a tensor with gaps is not supported");
    const int64_t n = numel();
    if (n == 0) return *this;
    const unsigned blocks = blocks_for(n);
    const cudaStream_t stream = kb::torch_names::stream();
    if (type_ == kFloat) {
      const auto v = static_cast<float>(value);
      fill_elements<float><<<blocks, 256, 0, stream>>>(data_ptr<float>(), n, v);
    } else if (type_ == kLong) {
      const auto v = static_cast<int64_t>(value);
      fill_elements<int64_t><<<blocks, 256, 0, stream>>>(data_ptr<int64_t>(), n, v);
    } else if (type_ == kInt) {
      const auto v = static_cast<int32_t>(value);
      fill_elements<int32_t><<<blocks, 256, 0, stream>>>(data_ptr<int32_t>(), n, v);
    } else {
      kb::torch_names::fail("fill_() of this element type is not supported");
    }
    return *this;
  }
  const Tensor& copy_(const Tensor& x) const {
    const int64_t n = numel();
    if (x.sizes() != sizes() || x.type_ != type_) {
      kb::torch_names::fail("copy_() that converts or expands is not supported");
    }
    if (n == 0) return *this;
    const cudaStream_t stream = kb::torch_names::stream();
    if (x.is_contiguous() && is_contiguous()) {
      kb::torch_names::check_cuda(cudaMemcpyAsync(data_, x.data_, static_cast<size_t>(nbytes()),
                                                  cudaMemcpyDeviceToDevice, stream),
                                  "copy_");
      return *this;
    }
    switch (element_size()) {
      case 1:
        return copy_as<uint8_t>(x, n, stream);
      case 2:
        return copy_as<uint16_t>(x, n, stream);
      case 4:
        return copy_as<uint32_t>(x, n, stream);
      default:
        return copy_as<uint64_t>(x, n, stream);
    }
  }

  // Operators that extensions fall back to where their kernels do not apply: to call one is an
  // error.
  template <class... Arguments>
  Tensor flip(const Arguments&...) const {
    kb::torch_names::fail_operator("flip");
  }
  Tensor sum() const { return added_up(1); }
  Tensor mean() const { return added_up(static_cast<double>(numel())); }
  template <class... Arguments>
  Tensor sum(const Arguments&...) const {
    kb::torch_names::fail_operator("sum");
  }
  template <class... Arguments>
  Tensor mean(const Arguments&...) const {
    kb::torch_names::fail_operator("mean");
  }
  std::tuple<Tensor, Tensor> max(int64_t, bool = false) const;
  std::tuple<Tensor, Tensor> min(int64_t, bool = false) const;

 private:
  /// The sum of all elements divided by a number, added up in double.
  Tensor added_up(double divisor) const;
  template <class T>
  const Tensor& copy_as(const Tensor& x, int64_t n, cudaStream_t stream) const {
    copy_elements<T><<<blocks_for(n), 256, 0, stream>>>(
        static_cast<T*>(data_), static_cast<const T*>(x.data_), n, layout(), x.layout());
    return *this;
  }
  Layout layout() const {
    if (dim() > Layout::most) kb::torch_names::fail("a tensor has at most 8 dimensions");
    Layout made{static_cast<int>(dim()), {}, {}};
    std::copy(sizes_.begin(), sizes_.end(), made.size);
    std::copy(strides_.begin(), strides_.end(), made.stride);
    return made;
  }
  size_t axis(int64_t d) const {
    const int64_t found = d < 0 ? d + dim() : d;
    if (found < 0 || found >= dim()) {
      kb::torch_names::fail_check("", "dimension ", d, " of a tensor with ", dim(), " dimensions");
    }
    return static_cast<size_t>(found);
  }
  void set_sizes(IntArrayRef sizes) {
    defined_ = true;
    sizes_ = sizes.vec();
    strides_.assign(sizes_.size(), 1);
    for (int64_t d = dim() - 2; d >= 0; --d) strides_[d] = strides_[d + 1] * sizes_[d + 1];
    for (const int64_t extent : sizes_) {
      if (extent < 0) kb::torch_names::fail_check("", "negative size in ", sizes_);
    }
  }

  Storage storage_;
  void* data_ = nullptr;
  ScalarType type_ = kFloat;
  bool defined_ = false;
  std::vector<int64_t> sizes_, strides_;
};
using TensorList = const std::vector<Tensor>&;

inline Tensor Tensor::added_up(double divisor) const {
  if (type_ != kFloat) kb::torch_names::fail("sum() of this element type is not supported");
  const Tensor x = contiguous(), y(IntArrayRef(), kFloat);
  const auto blocks = static_cast<int>(std::clamp<int64_t>(numel() / 4096, 1, 512));
  const Tensor parts({int64_t(blocks)}, kDouble);
  const cudaStream_t stream = kb::torch_names::stream();
  add_up<<<blocks, 256, 0, stream>>>(x.data_ptr<float>(), numel(), parts.data_ptr<double>(), 1);
  add_up<<<1, 256, 0, stream>>>(parts.data_ptr<double>(), blocks, y.data_ptr<float>(), divisor);
  return y;
}
inline std::tuple<Tensor, Tensor> Tensor::max(int64_t, bool) const {
  kb::torch_names::fail_operator("max");
}
inline std::tuple<Tensor, Tensor> Tensor::min(int64_t, bool) const {
  kb::torch_names::fail_operator("min");
}

inline Tensor empty(IntArrayRef sizes, TensorOptions options = {}) { return {sizes, options}; }
inline Tensor zeros(IntArrayRef sizes, TensorOptions options = {}) {
  return Tensor(sizes, options).zero_();
}
inline Tensor full(IntArrayRef sizes, double value, TensorOptions options = {}) {
  return Tensor(sizes, options).fill_(value);
}
inline Tensor tensor(double value, TensorOptions options = {}) {
  return full(IntArrayRef(), value, options);
}
inline Tensor ones(IntArrayRef sizes, TensorOptions options = {}) {
  return full(sizes, 1, options);
}
inline Tensor empty_like(const Tensor& x) { return {x.sizes(), x.options()}; }
inline Tensor empty_like(const Tensor& x, TensorOptions options) { return {x.sizes(), options}; }
inline Tensor zeros_like(const Tensor& x) { return empty_like(x).zero_(); }
inline Tensor zeros_like(const Tensor& x, TensorOptions o) { return empty_like(x, o).zero_(); }
inline Tensor ones_like(const Tensor& x) { return empty_like(x).fill_(1); }
inline Tensor full_like(const Tensor& x, double value) { return empty_like(x).fill_(value); }

// Operators that extensions fall back to where their kernels do not apply: to call one is an error.
#define KB_TORCH_FALLBACK(name)                     \
  template <class... Arguments>                     \
  Tensor name(const Tensor&, const Arguments&...) { \
    kb::torch_names::fail_operator(#name);          \
  }
KB_TORCH_FALLBACK(argmax)
KB_TORCH_FALLBACK(argmin)
KB_TORCH_FALLBACK(clamp)
KB_TORCH_FALLBACK(cumprod)
KB_TORCH_FALLBACK(cumsum)
KB_TORCH_FALLBACK(exp)
KB_TORCH_FALLBACK(log)
KB_TORCH_FALLBACK(matmul)
KB_TORCH_FALLBACK(mean)
KB_TORCH_FALLBACK(relu)
KB_TORCH_FALLBACK(softmax)
KB_TORCH_FALLBACK(sum)
KB_TORCH_FALLBACK(tanh)
#undef KB_TORCH_FALLBACK
inline Tensor mean(const Tensor& x) { return x.mean(); }
inline Tensor sum(const Tensor& x) { return x.sum(); }
// With lists in braces, which templates do not take.
inline Tensor mean(const Tensor&, IntArrayRef, bool = false) {
  kb::torch_names::fail_operator("mean");
}
inline Tensor sum(const Tensor&, IntArrayRef, bool = false) {
  kb::torch_names::fail_operator("sum");
}
inline Tensor max_pool2d(const Tensor&, IntArrayRef, IntArrayRef = {}, IntArrayRef = {},
                         IntArrayRef = {}, bool = false) {
  kb::torch_names::fail_operator("max_pool2d");
}
inline Tensor conv2d(const Tensor&, const Tensor&, const Tensor& = {}, IntArrayRef = {},
                     IntArrayRef = {}, IntArrayRef = {}, int64_t = 1) {
  kb::torch_names::fail_operator("conv2d");
}
inline Tensor operator+(const Tensor&, const Tensor&) { kb::torch_names::fail_operator("add"); }
inline Tensor operator-(const Tensor&, const Tensor&) { kb::torch_names::fail_operator("sub"); }
inline Tensor operator*(const Tensor&, const Tensor&) { kb::torch_names::fail_operator("mul"); }
inline Tensor operator/(const Tensor&, const Tensor&) { kb::torch_names::fail_operator("div"); }

inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
inline TensorOptions device(Device where) { return TensorOptions().device(where); }

}  // namespace kb::torch_names::names

namespace kb::torch_names::names::cuda {

/// The stream of launch() under the names of PyTorch's streams.
class CUDAStream {
 public:
  cudaStream_t stream() const { return kb::torch_names::stream(); }
  operator cudaStream_t() const { return stream(); }
  void synchronize() const { cudaStreamSynchronize(stream()); }
};
inline CUDAStream getCurrentCUDAStream(int = -1) { return {}; }
inline CUDAStream getDefaultCUDAStream(int = -1) { return {}; }

/// There is one device: nothing to do.
struct CUDAGuard {
  CUDAGuard(int) {}
  CUDAGuard(at::Device) {}
};
struct OptionalCUDAGuard {
  OptionalCUDAGuard() {}
  OptionalCUDAGuard(int) {}
  OptionalCUDAGuard(at::Device) {}
};

inline cudaDeviceProp* getCurrentDeviceProperties() {
  static cudaDeviceProp properties = [] {
    cudaDeviceProp p;
    kb::torch_names::check_cuda(cudaGetDeviceProperties(&p, 0), "getCurrentDeviceProperties");
    return p;
  }();
  return &properties;
}

}  // namespace kb::torch_names::names::cuda

namespace kb::torch_names::names {
using Dtype = ScalarType;
inline Device device_of(const Tensor& x) { return x.device(); }
inline int64_t maybe_wrap_dim(int64_t d, int64_t dim) { return d < 0 ? d + dim : d; }
}  // namespace kb::torch_names::names

// Bindings are never made: launch() calls the functions themselves. The body must compile.
#define TORCH_EXTENSION_NAME kb_extension
#define KB_TORCH_JOIN(a, b) a##b
#define KB_TORCH_BINDINGS(line) KB_TORCH_JOIN(kb_bindings_, line)
#define PYBIND11_MODULE(name, m) \
  template <class Module>        \
  [[maybe_unused]] static void KB_TORCH_BINDINGS(__LINE__)([[maybe_unused]] Module & m)
namespace kb::torch_names::bindings {
struct arg {
  explicit arg(const char*) {}
  template <class T>
  arg& operator=(const T&) {
    return *this;
  }
};
}  // namespace kb::torch_names::bindings
namespace pybind11 = kb::torch_names::bindings;
namespace py = kb::torch_names::bindings;

#define TORCH_CHECK(condition, ...)                                             \
  do {                                                                          \
    if (!(condition)) ::kb::torch_names::fail_check(#condition, ##__VA_ARGS__); \
  } while (false)
#define TORCH_INTERNAL_ASSERT TORCH_CHECK
#define AT_ASSERTM TORCH_CHECK
#define AT_ASSERT TORCH_CHECK
#define AT_ERROR(...) ::kb::torch_names::fail_check("", ##__VA_ARGS__)
#define C10_CUDA_CHECK(call) ::kb::torch_names::check_cuda((call), #call)
#define AT_CUDA_CHECK C10_CUDA_CHECK
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())

// As in PyTorch, all types of a dispatch are compiled, and one is run.
#define KB_TORCH_CASE(code, type, ...) \
  case ::c10::ScalarType::code: {      \
    using scalar_t = type;             \
    return __VA_ARGS__();              \
  }
#define KB_TORCH_DISPATCH(TYPE, NAME, CASES)                                                    \
  [&] {                                                                                         \
    const ::c10::ScalarType kb_type = (TYPE);                                                   \
    switch (kb_type) {                                                                          \
      CASES default : ::kb::torch_names::fail_check("", "\"", NAME, "\" not implemented for '", \
                                                    kb_type, "'");                              \
    }                                                                                           \
  }()
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...)            \
  KB_TORCH_DISPATCH(TYPE, NAME,                                \
                    KB_TORCH_CASE(Double, double, __VA_ARGS__) \
                        KB_TORCH_CASE(Float, float, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...)                  \
  KB_TORCH_DISPATCH(TYPE, NAME,                                               \
                    KB_TORCH_CASE(Double, double, __VA_ARGS__) KB_TORCH_CASE( \
                        Float, float, __VA_ARGS__) KB_TORCH_CASE(Half, ::c10::Half, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...)                                                     \
  KB_TORCH_DISPATCH(                                                                               \
      TYPE, NAME,                                                                                  \
      KB_TORCH_CASE(Byte, uint8_t, __VA_ARGS__) KB_TORCH_CASE(Char, int8_t, __VA_ARGS__)           \
          KB_TORCH_CASE(Short, int16_t, __VA_ARGS__) KB_TORCH_CASE(Int, int32_t, __VA_ARGS__)      \
              KB_TORCH_CASE(Long, int64_t, __VA_ARGS__) KB_TORCH_CASE(Double, double, __VA_ARGS__) \
                  KB_TORCH_CASE(Float, float, __VA_ARGS__))

namespace kb::torch_names {

/// An argument or a weight of launch(): a tensor without gaps.
template <class T>
at::Tensor tensor(const T* data, at::IntArrayRef sizes) {
  static_assert(c10::type_code<T>() >= 0, "tensors of this element type are not supported");
  return {data, at::ScalarType(c10::type_code<T>()), sizes};
}

/// A weight by its name, in the shape that it has.
inline at::Tensor weight(const kb::Weights& weights, const char* name) {
  const kb::Weight& w = weights.find(name);
  return tensor(w.data, at::IntArrayRef(w.shape, static_cast<size_t>(w.rank)));
}

/// Lives as long as a call of launch(): its tensors belong to `stream`, and the first new one that
/// is as large as the output lies in the output.
class Scope {
 public:
  explicit Scope(cudaStream_t stream) { call() = {stream, nullptr, -1, -1}; }
  template <class T>
  Scope(cudaStream_t stream, T* output, int64_t numel) {
    call() = {stream, output, numel, c10::type_code<T>()};
  }
  ~Scope() { call().output = nullptr; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// Hands a tensor to the output, which is a copy unless it lies there already.
  template <class T>
  void give(const at::Tensor& y, T* output, int64_t numel = -1) const {
    if (!y.defined()) fail("the extension returned no tensor");
    if (int(y.scalar_type()) != c10::type_code<T>()) {
      fail_check("", "the output has elements of type ", at::ScalarType(c10::type_code<T>()),
                 ", the extension returned ", y.scalar_type());
    }
    if (numel >= 0 && y.numel() != numel) {
      fail_check("", "the output has ", numel, " elements, the extension returned ", y.numel());
    }
    if (y.data_ptr() == output && y.is_contiguous()) return;
    // A scalar may have one dimension or none.
    tensor(output, y.sizes()).copy_(y);
  }
};

template <class T>
__global__ void compute_elements(const T* x, T* y, int64_t n, char sign, T value) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const T v = x[i];
    y[i] = sign == '*' ? v * value : sign == '/' ? v / value : sign == '+' ? v + value : v - value;
  }
}

/// y gets the elements of x after arithmetic with a number; both have the same size and no gaps.
inline void compute(const at::Tensor& x, const at::Tensor& y, char sign, double value) {
  const int64_t n = x.numel();
  if (n == 0) return;
  compute_elements<float><<<at::blocks_for(n), 256, 0, stream()>>>(
      x.data_ptr<float>(), y.data_ptr<float>(), n, sign, static_cast<float>(value));
}
/// A weight after arithmetic with a number that the source does once, before it is used.
inline at::Tensor compute(const at::Tensor& x, char sign, double value) {
  const at::Tensor dense = x.contiguous(), y = at::empty_like(dense);
  compute(dense, y, sign, value);
  return y;
}
/// The same in place, as `x /= 2`.
inline const at::Tensor& compute_here(const at::Tensor& x, char sign, double value) {
  if (!x.is_contiguous()) fail("arithmetic in place of a tensor with gaps is not supported");
  compute(x, x, sign, value);
  return x;
}

/// The number of elements of a shape.
inline int64_t product(const std::vector<int64_t>& sizes) {
  int64_t n = 1;
  for (const int64_t extent : sizes) n *= extent;
  return n;
}

/// Python's // for integers.
inline int64_t floor_divide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
inline double floor_divide(double a, double b) { return std::floor(a / b); }
inline int64_t multiprocessors() {
  return at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
}

}  // namespace kb::torch_names

namespace kb::torch_names::names {

// Arithmetic of a tensor of floats with a number.
#define KB_TORCH_ARITHMETIC(sign, character)                             \
  inline Tensor operator sign(const Tensor& x, double value) {           \
    return kb::torch_names::compute(x, character, value);                \
  }                                                                      \
  inline const Tensor& operator sign##=(const Tensor& x, double value) { \
    return kb::torch_names::compute_here(x, character, value);           \
  }
KB_TORCH_ARITHMETIC(+, '+')
KB_TORCH_ARITHMETIC(-, '-')
KB_TORCH_ARITHMETIC(*, '*')
KB_TORCH_ARITHMETIC(/, '/')
#undef KB_TORCH_ARITHMETIC
inline Tensor operator+(double value, const Tensor& x) { return x + value; }
inline Tensor operator*(double value, const Tensor& x) { return x * value; }
inline Tensor operator-(double value, const Tensor& x) { return x * -1 + value; }

}  // namespace kb::torch_names::names
