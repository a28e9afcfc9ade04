// CUDA IPC. It exports whole 2 MiB blocks, so every shared tensor is an allocation of its own of a
// multiple of that size; expected values never lie in one.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "judge/session/buffers.h"

namespace kb {
namespace {

constexpr uint64_t granularity = uint64_t{2} << 20;
constexpr uint64_t lead = uint64_t{1} << 20;
constexpr uint64_t band = uint64_t{64} << 10;

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

void check(cudaError_t error, const char* doing, uint64_t bytes) {
  TORCH_CHECK(error == cudaSuccess, "cannot ", doing, " ", bytes,
              " bytes of device memory: ", cudaGetErrorString(error));
}

class CudaTensor final : public SharedTensor {
 public:
  CudaTensor(const TensorSpec& spec, int64_t slots, at::Device device) : SharedTensor(spec, slots) {
    data_offset_ = lead;
    slot_stride_ = round_up(static_cast<uint64_t>(spec_.bytes()) + band, band);
    const uint64_t bytes = round_up(data_offset_ + slots * slot_stride_, granularity);
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "allocate", bytes);
    memory_ = at::from_blob(
        memory, {static_cast<int64_t>(bytes)},
        [bytes](void* p) {
          cudaMemset(p, 0, bytes);  // cudaFree() waits for it
          cudaFree(p);
        },
        at::TensorOptions(at::kByte).device(device));
    cudaIpcMemHandle_t handle;
    check(cudaIpcGetMemHandle(&handle, memory), "share", bytes);
    static_assert(sizeof handle == sizeof handle_);
    std::memcpy(handle_, &handle, sizeof handle);
    poison();
  }
};

class CudaMemory final : public SharedMemory {
 public:
  CudaMemory() : fd_(open("/dev/null", O_RDWR | O_CLOEXEC)) {}
  ~CudaMemory() override { close(fd_); }

  std::unique_ptr<SharedTensor> allocate(const TensorSpec& spec, int64_t slots) override {
    return std::make_unique<CudaTensor>(spec, slots, device());
  }
  // Each tensor is an allocation of its own, which is zeroed before it is given back and filled
  // anew when it is made.
  void renew() override {}
  bool written_when_gone() const override { return false; }
  int descriptor() const override { return fd_; }
  at::Device device() const override { return {at::kCUDA, c10::cuda::current_device()}; }
  void release_unused() const override { c10::cuda::CUDACachingAllocator::emptyCache(); }
  int64_t available_bytes() const override {
    release_unused();
    size_t free = 0, total = 0;
    const cudaError_t error = cudaMemGetInfo(&free, &total);
    TORCH_CHECK(error == cudaSuccess,
                "cannot ask for the free device memory: ", cudaGetErrorName(error), ": ",
                cudaGetErrorString(error));
    return static_cast<int64_t>(free);
  }
  void finish() const override { c10::cuda::device_synchronize(); }

 private:
  int fd_;
};

}  // namespace

std::unique_ptr<SharedMemory> make_shared_memory() { return std::make_unique<CudaMemory>(); }

std::vector<at::Tensor> map_shared(const protocol::Tensor& tensor) {
  cudaIpcMemHandle_t handle;
  std::memcpy(&handle, tensor.handle, sizeof handle);
  void* memory = nullptr;
  const uint64_t bytes = tensor.data_offset + tensor.slots * tensor.slot_stride;
  check(cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess), "map", bytes);
  const at::Device device(at::kCUDA, c10::cuda::current_device());
  return split_slots(
      at::from_blob(
          memory, {static_cast<int64_t>(bytes)}, [](void* p) { cudaIpcCloseMemHandle(p); },
          at::TensorOptions(at::kByte).device(device)),
      tensor);
}

}  // namespace kb
