// POSIX shared memory: one memfd that the runner inherits; harness/cpu maps it behind cudaIpc*.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "judge/session/buffers.h"
#include "sandbox/protocol/descriptor.h"

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

// The memory of the runners of one time. It grows with each tensor; where a tensor was, there is a
// hole when it is gone, so that what anybody writes there shows.
class TensorFile {
 public:
  TensorFile() : file_(memfd_create("kb-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    // A runner that could shrink it would make this process fault.
    TORCH_CHECK(
        file_.get() >= 0 && fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0,
        "cannot create shared memory: ", std::strerror(errno));
  }

  int descriptor() const { return file_.get(); }

  /// @return the offset of `bytes` more
  uint64_t grow(uint64_t bytes) {
    const uint64_t offset = end_;
    end_ += bytes;
    TORCH_CHECK(ftruncate(file_.get(), static_cast<off_t>(end_)) == 0, "cannot share ", bytes,
                " bytes: ", std::strerror(errno));
    return offset;
  }

  void free(uint64_t offset, uint64_t bytes) {
    const int error = fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                static_cast<off_t>(offset), static_cast<off_t>(bytes));
    if (error == 0) holes_.push_back({offset, bytes});
  }

  /// Whether a hole holds anything but zeros. A page that was only read is one of zeros.
  bool holes_are_filled() const {
    return std::any_of(holes_.begin(), holes_.end(), [this](const Hole& hole) {
      const auto end = static_cast<off_t>(hole.offset + hole.bytes);
      for (auto at = static_cast<off_t>(hole.offset); at < end; at += page) {
        at = lseek(file_.get(), at, SEEK_DATA);
        if (at < 0 || at >= end) return false;
        std::array<char, page> content{};
        if (pread(file_.get(), content.data(), page, at) != page) return false;
        if (std::any_of(content.begin(), content.end(), [](char c) { return c != 0; })) return true;
      }
      return false;
    });
  }

 private:
  struct Hole {
    uint64_t offset, bytes;
  };
  Descriptor file_;
  uint64_t end_ = 0;
  std::vector<Hole> holes_;
};

class CpuTensor final : public SharedTensor {
 public:
  CpuTensor(const TensorSpec& spec, int64_t slots, const std::shared_ptr<TensorFile>& file)
      : SharedTensor(spec, slots) {
    const auto bytes = static_cast<uint64_t>(spec_.bytes());
    data_offset_ = page;
    slot_stride_ = round_up(bytes + band, alignment);
    const uint64_t map_bytes = round_up(data_offset_ + slots * slot_stride_, page);
    const uint64_t offset = file->grow(map_bytes);
    void* const memory = mmap(nullptr, map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                              file->descriptor(), static_cast<off_t>(offset));
    TORCH_CHECK(memory != MAP_FAILED, "cannot share ", map_bytes, " bytes for ", spec_.name, ": ",
                std::strerror(errno));
    memory_ = at::from_blob(
        memory, {static_cast<int64_t>(map_bytes)},
        [file, offset, map_bytes](void* p) {
          munmap(p, map_bytes);
          file->free(offset, map_bytes);
        },
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
  std::unique_ptr<SharedTensor> allocate(const TensorSpec& spec, int64_t slots) override {
    return std::make_unique<CpuTensor>(spec, slots, file_);
  }
  void renew() override { file_ = std::make_shared<TensorFile>(); }
  bool written_when_gone() const override { return file_->holes_are_filled(); }
  int descriptor() const override { return file_->descriptor(); }
  at::Device device() const override { return at::kCPU; }
  void release_unused() const override {}
  int64_t available_bytes() const override { return std::numeric_limits<int64_t>::max(); }
  void finish() const override {}

 private:
  std::shared_ptr<TensorFile> file_ = std::make_shared<TensorFile>();  ///< tensors keep theirs
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
