// In slices, as the expected values come. The sums stay where they are made until the end.
#include "judge/acceptance/pass_over_rows.h"

#include <algorithm>
#include <cstring>

#include "judge/acceptance/slices.h"

#ifdef KB_CUDA
#include <c10/cuda/CUDAStream.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "judge/acceptance/row_passes_cuda.h"
#endif

namespace kb {
namespace {

template <class T, class Pass>
void add_rows(const Elements<T>& e, const Pass& pass, typename Pass::Sums* rows) {
  for (int64_t i = 0; i < e.count;) {
    const int64_t row = (e.first + i) / e.columns;
    const int64_t end = std::min(e.count, (row + 1) * e.columns - e.first);
    typename Pass::Sums sums{};
    for (; i < end; ++i) {
      pass.add(sums, e.got[i], e.oracle[i], e.torch[i], row);
    }
    rows[row].add(sums);
  }
}

// Some elements, in the memory where the passes run.
struct Slice {
  at::Tensor got, torch, oracle;
  int64_t first, columns;
};

template <class T>
Elements<T> elements(const Slice& s) {
  return {static_cast<const T*>(s.got.const_data_ptr()),
          static_cast<const T*>(s.torch.const_data_ptr()),
          s.oracle.const_data_ptr<double>(),
          s.first,
          s.oracle.numel(),
          s.columns};
}

template <class Pass>
void add_slice(const Slice& s, const Pass& pass, typename Pass::Sums* rows) {
  const at::ScalarType type = s.got.scalar_type();
#ifdef KB_CUDA
  if (s.oracle.is_cuda()) {
    const cudaStream_t stream = c10::cuda::getCurrentCUDAStream().stream();
    if (type == at::kHalf) return pass_over_device_rows(elements<__half>(s), pass, rows, stream);
    if (type == at::kBFloat16) {
      return pass_over_device_rows(elements<__nv_bfloat16>(s), pass, rows, stream);
    }
    return pass_over_device_rows(elements<float>(s), pass, rows, stream);
  }
#endif
  if (type == at::kHalf) return add_rows(elements<at::Half>(s), pass, rows);
  if (type == at::kBFloat16) return add_rows(elements<at::BFloat16>(s), pass, rows);
  add_rows(elements<float>(s), pass, rows);
}

// Tensors of bytes, since ATen has no types for these.
template <class T>
at::Tensor to_device(const std::vector<T>& values, at::Device device) {
  const auto bytes = static_cast<int64_t>(values.size() * sizeof(T));
  return at::from_blob(const_cast<T*>(values.data()), {bytes}, at::kByte).clone().to(device);
}

template <class T>
std::vector<T> to_host(const at::Tensor& bytes) {
  const at::Tensor there = bytes.cpu();
  std::vector<T> values(there.numel() / sizeof(T));
  std::memcpy(values.data(), there.const_data_ptr(), values.size() * sizeof(T));
  return values;
}

template <class Pass>
std::vector<typename Pass::Sums> run(const ComparedOutput& output, const Pass& pass) {
  using Sums = typename Pass::Sums;
  const at::Device device = output.device;
  const int64_t rows = output.oracle.numel() / output.columns;
  const at::Tensor sums = to_device(std::vector<Sums>(rows), device);
  for_slices(output.oracle.numel(), [&](int64_t first, int64_t count) {
    const auto here = [&](const at::Tensor& t) {
      return flat_slice(t, first, count).to(device).contiguous();
    };
    const Slice slice{here(output.got), here(output.torch),
                      output.oracle.range(first, count).to(at::kDouble).contiguous(), first,
                      output.columns};
    add_slice(slice, pass, static_cast<Sums*>(sums.mutable_data_ptr()));
  });
  return to_host<Sums>(sums);
}

}  // namespace

std::vector<RowSums> pass_over_rows(const ComparedOutput& output, const MeasureRows& pass) {
  return run(output, pass);
}

std::vector<RowExcess> pass_over_rows(const ComparedOutput& output, JudgeRows pass,
                                      const std::vector<RowLimit>& limits) {
  const at::Tensor there = to_device(limits, output.device);
  pass.rows = static_cast<const RowLimit*>(there.const_data_ptr());
  return run(output, pass);
}

}  // namespace kb
