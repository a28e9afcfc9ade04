// POSIX shared memory: one memfd that the runner inherits; harness/cpu maps it behind cudaIpc*.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "protocol/descriptor.h"
#include "session/buffers.h"

namespace kb {
namespace {

constexpr uint64_t page = 4096;
constexpr uint64_t alignment = 256;
// What a write just past the end may hit without a fault; beyond it lies an inaccessible page.
constexpr uint64_t band = 256;

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

// The handle's content as harness/cpu reads it.
struct CpuHandle {
  int32_t fd = protocol::data_fd;
  uint32_t magic = 0x4b424350;
  uint64_t file_offset, map_bytes, data_offset, data_bytes;
};
static_assert(sizeof(CpuHandle) <= 64);

class CpuTensor final : public SharedTensor {
 public:
  CpuTensor(const TensorSpec& spec, int64_t slots, int fd, uint64_t& file_end)
      : SharedTensor(spec, slots) {
    const auto bytes = static_cast<uint64_t>(spec_.bytes());
    data_offset_ = page;
    slot_stride_ = round_up(bytes + band, alignment);
    const uint64_t map_bytes = round_up(data_offset_ + slots * slot_stride_, page);
    const uint64_t offset = file_end;
    file_end += map_bytes;
    void* memory = MAP_FAILED;
    if (ftruncate(fd, static_cast<off_t>(file_end)) == 0) {
      memory = mmap(nullptr, map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                    static_cast<off_t>(offset));
    }
    TORCH_CHECK(memory != MAP_FAILED, "cannot share ", map_bytes, " bytes for ", spec_.name, ": ",
                std::strerror(errno));
    memory_ = at::from_blob(
        memory, {static_cast<int64_t>(map_bytes)}, [map_bytes](void* p) { munmap(p, map_bytes); },
        at::kByte);
    const CpuHandle handle{.file_offset = offset,
                           .map_bytes = map_bytes,
                           .data_offset = data_offset_,
                           .data_bytes = (slots - 1) * slot_stride_ + bytes};
    std::memcpy(handle_, &handle, sizeof handle);
    poison();
  }
};

class CpuMemory final : public SharedMemory {
 public:
  CpuMemory() { CpuMemory::renew(); }

  // Tensors keep what they have mapped of the file before.
  void renew() override {
    file_ = Descriptor(memfd_create("kb-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    // It grows with each tensor; a runner that could shrink it would make this process fault.
    TORCH_CHECK(
        file_.get() >= 0 && fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0,
        "cannot create shared memory: ", std::strerror(errno));
    file_end_ = 0;
  }

  std::unique_ptr<SharedTensor> allocate(const TensorSpec& spec, int64_t slots) override {
    return std::make_unique<CpuTensor>(spec, slots, file_.get(), file_end_);
  }
  int descriptor() const override { return file_.get(); }
  at::Device device() const override { return at::kCPU; }
  void release_unused() const override {}
  int64_t available_bytes() const override { return std::numeric_limits<int64_t>::max(); }
  void finish() const override {}

 private:
  Descriptor file_;
  uint64_t file_end_ = 0;
};

}  // namespace

std::unique_ptr<SharedMemory> make_shared_memory() { return std::make_unique<CpuMemory>(); }

std::vector<at::Tensor> map_shared(const protocol::Tensor& tensor) {
  CpuHandle handle{};
  std::memcpy(&handle, tensor.handle, sizeof handle);
  void* memory = mmap(nullptr, handle.map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, handle.fd,
                      static_cast<off_t>(handle.file_offset));
  TORCH_CHECK(memory != MAP_FAILED, "cannot map a shared tensor: ", std::strerror(errno));
  const uint64_t map_bytes = handle.map_bytes;
  return split_slots(at::from_blob(
                         memory, {static_cast<int64_t>(map_bytes)},
                         [map_bytes](void* p) { munmap(p, map_bytes); }, at::kByte),
                     tensor);
}

}  // namespace kb
