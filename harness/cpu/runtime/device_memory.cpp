// Guarded device allocations, plain heap memory under the sanitizers, and IPC mappings.
#include "device_memory.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cudacpu/ipc.hpp>

#include "diagnostics.hpp"
#include "sanitizer.hpp"

namespace kb::cpu {
namespace {

constexpr std::size_t page = 4096;
// Wide enough that an index which is off by rows, not elements, hits no neighbour.
constexpr std::size_t guard = 1 << 20;
constexpr std::size_t alignment = 256;  // what cudaMalloc promises
constexpr std::size_t retired_limit = 256;

#if defined(KB_SANITIZE_ADDRESS) || defined(KB_SANITIZE_THREAD)
constexpr bool guarded = false;  // the sanitizer watches the heap more closely than pages can
#else
constexpr bool guarded = true;
#endif

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

bool is_guarded(const Allocation& allocation) {
  return guarded && (allocation.kind == MemoryKind::device || allocation.kind == MemoryKind::ipc);
}

/// Number of bytes in [from, to) that a kernel has changed, counted from the data outwards.
std::size_t damage(const char* from, const char* to) {
  return static_cast<std::size_t>(
      std::count_if(from, to, [](char byte) { return byte != static_cast<char>(0xff); }));
}

std::string label(const Allocation& allocation, const char* state) {
  return "the " + std::to_string(allocation.bytes) + "-byte " + state + " allocation no. " +
         std::to_string(allocation.serial);
}

}  // namespace

DeviceMemory& DeviceMemory::instance() {
  static auto* memory = new DeviceMemory;  // kernels may run while static objects are destroyed
  return *memory;
}

void* DeviceMemory::allocate(std::size_t bytes, MemoryKind kind) {
  watch_faults();
  watch_faults();
  std::lock_guard lock(mutex_);
  Allocation result{nullptr, bytes, nullptr, 0, nullptr, 0, kind, ++serial_, true};
  if (guarded && kind == MemoryKind::device) {
    const std::size_t padded = round_up(std::max<std::size_t>(bytes, 1), alignment);
    result.page_bytes = round_up(padded, page);
    result.mapping_bytes = result.page_bytes + 2 * guard;
    if (result.mapping_bytes < bytes) return nullptr;
    void* mapping = mmap(nullptr, result.mapping_bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) return nullptr;
    result.mapping = static_cast<char*>(mapping);
    result.pages = result.mapping + guard;
    if (mprotect(result.pages, result.page_bytes, PROT_READ | PROT_WRITE) != 0) {
      munmap(mapping, result.mapping_bytes);
      return nullptr;
    }
    // At the end of its pages, so that the first byte behind the padding faults.
    result.data = result.pages + result.page_bytes - padded;
    std::memset(result.pages, 0xff, result.page_bytes);
    if (guarded && open_ == 0) protect(result, false);
  } else {
    void* data = nullptr;
    if (posix_memalign(&data, alignment, std::max<std::size_t>(bytes, 1)) != 0) return nullptr;
    result.data = static_cast<char*>(data);
    std::memset(data, 0xff, bytes);
  }
  used_ += bytes;
  allocations_[reinterpret_cast<std::uintptr_t>(result.mapping ? result.mapping : result.data)] =
      result;
  return result.data;
}

const Allocation* DeviceMemory::containing(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto next = allocations_.upper_bound(at);
  if (next == allocations_.begin()) return nullptr;
  const Allocation& candidate = std::prev(next)->second;
  auto* byte = static_cast<const char*>(address);
  const std::size_t bytes = std::max<std::size_t>(candidate.bytes, 1);
  return byte >= candidate.data && byte < candidate.data + bytes ? &candidate : nullptr;
}

bool DeviceMemory::find(const void* address, Allocation* found) {
  std::lock_guard lock(mutex_);
  const Allocation* allocation = containing(address);
  if (allocation) *found = *allocation;
  return allocation != nullptr;
}

bool DeviceMemory::release(void* data, bool host_memory) {
  std::lock_guard lock(mutex_);
  const Allocation* found = containing(data);
  if (!found || found->data != data || !found->owned || found->kind == MemoryKind::ipc ||
      host_memory != (found->kind == MemoryKind::pinned))
    return false;
  const Allocation allocation = *found;
  used_ -= allocation.bytes;
  if (allocation.mapping) {
    allocations_.erase(reinterpret_cast<std::uintptr_t>(allocation.mapping));
    retire(allocation);
  } else {
    allocations_.erase(reinterpret_cast<std::uintptr_t>(data));
    std::free(data);
  }
  return true;
}

// Gives the memory back but keeps the addresses inaccessible for a while: a late use then faults
// instead of hitting a younger allocation.
void DeviceMemory::retire(const Allocation& allocation) {
  mmap(allocation.mapping, allocation.mapping_bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  retired_.push_back(allocation);
  if (retired_.size() <= retired_limit) return;
  munmap(retired_.front().mapping, retired_.front().mapping_bytes);
  retired_.erase(retired_.begin());
}

void* DeviceMemory::open_ipc(const void* handle) {
  IpcHandle ipc;
  std::memcpy(&ipc, handle, sizeof ipc);
  struct stat file {};
  if (ipc.magic != ipc_magic || ipc.map_bytes == 0 || ipc.map_bytes % page ||
      ipc.file_offset % page || ipc.data_offset > ipc.map_bytes ||
      ipc.data_bytes > ipc.map_bytes - ipc.data_offset || fstat(ipc.fd, &file) != 0 ||
      static_cast<std::uint64_t>(file.st_size) < ipc.file_offset ||
      static_cast<std::uint64_t>(file.st_size) - ipc.file_offset < ipc.map_bytes)
    return nullptr;
  watch_faults();
  std::lock_guard lock(mutex_);
  Allocation result{nullptr,         ipc.map_bytes, nullptr,
                    ipc.map_bytes,   nullptr,       ipc.map_bytes + 2 * guard,
                    MemoryKind::ipc, ++serial_,     true};
  void* mapping = mmap(nullptr, result.mapping_bytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  result.mapping = static_cast<char*>(mapping);
  result.pages = result.data = result.mapping + guard;
  if (mmap(result.pages, ipc.map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, ipc.fd,
           static_cast<off_t>(ipc.file_offset)) == MAP_FAILED) {
    munmap(mapping, result.mapping_bytes);
    return nullptr;
  }
  poison(result.data, ipc.data_offset);
  poison(result.data + ipc.data_offset + ipc.data_bytes,
         ipc.map_bytes - ipc.data_offset - ipc.data_bytes);
  if (guarded && open_ == 0) protect(result, false);
  used_ += result.bytes;
  allocations_[reinterpret_cast<std::uintptr_t>(result.mapping)] = result;
  return result.data;
}

bool DeviceMemory::close_ipc(void* data) {
  std::lock_guard lock(mutex_);
  const Allocation* found = containing(data);
  if (!found || found->data != data || found->kind != MemoryKind::ipc) return false;
  const Allocation allocation = *found;
  allocations_.erase(reinterpret_cast<std::uintptr_t>(allocation.mapping));
  used_ -= allocation.bytes;
  unpoison(allocation.data, allocation.bytes);
  munmap(allocation.mapping, allocation.mapping_bytes);
  return true;
}

bool DeviceMemory::add_host(void* data, std::size_t bytes) {
  std::lock_guard lock(mutex_);
  if (containing(data)) return false;
  auto* first = static_cast<char*>(data);
  allocations_[reinterpret_cast<std::uintptr_t>(data)] = {
      first, bytes, nullptr, 0, nullptr, 0, MemoryKind::pinned, ++serial_, false};
  return true;
}

bool DeviceMemory::remove_host(void* data) {
  std::lock_guard lock(mutex_);
  auto found = allocations_.find(reinterpret_cast<std::uintptr_t>(data));
  if (found == allocations_.end() || found->second.owned) return false;
  allocations_.erase(found);
  return true;
}

std::string DeviceMemory::describe(const void* address) {
  std::lock_guard lock(mutex_);
  auto* byte = static_cast<const char*>(address);
  auto inside = [&](const Allocation& each) {
    return each.mapping && byte >= each.mapping && byte < each.mapping + each.mapping_bytes;
  };
  for (const auto& [start, each] : allocations_) {
    if (!inside(each)) continue;
    if (byte < each.data)
      return std::to_string(each.data - byte) + " bytes before the start of " +
             label(each, "device");
    if (byte < each.data + each.bytes)
      return "at byte " + std::to_string(byte - each.data) + " of " + label(each, "device");
    return std::to_string(byte - each.data - each.bytes) + " bytes past the end of " +
           label(each, "device");
  }
  for (const Allocation& each : retired_)
    if (inside(each)) return "after free: inside " + label(each, "freed");
  return "";
}

bool DeviceMemory::owns(const void* address) {
  if (!mutex_.try_lock()) return false;
  const bool found = !describe(address).empty();
  mutex_.unlock();
  return found;
}

void DeviceMemory::protect(const Allocation& allocation, bool accessible) {
  mprotect(allocation.pages, allocation.page_bytes,
           accessible ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void DeviceMemory::open_all() {
  std::lock_guard lock(mutex_);
  if (open_++ > 0 || !guarded) return;
  for (const auto& [start, each] : allocations_)
    if (is_guarded(each)) protect(each, true);
}

void DeviceMemory::close_all() {
  std::lock_guard lock(mutex_);
  if (--open_ > 0 || !guarded) return;
  for (const auto& [start, each] : allocations_)
    if (is_guarded(each)) protect(each, false);
}

DeviceMemory::Window::Window(DeviceMemory& memory, const void* a, const void* b)
    : memory_(memory), lock_(memory.mutex_) {
  if (memory_.open_ > 0) return;
  for (const void* address : {a, b}) {
    const Allocation* allocation = memory_.containing(address);
    if (!allocation || !is_guarded(*allocation)) continue;
    memory_.protect(*allocation, true);
    opened_.push_back(allocation);
  }
}

DeviceMemory::Window::~Window() {
  for (const Allocation* allocation : opened_) memory_.protect(*allocation, false);
}

std::string DeviceMemory::check_canaries() {
  if (!guarded) return "";
  std::lock_guard lock(mutex_);
  for (auto& [start, each] : allocations_) {
    if (each.kind != MemoryKind::device || !each.mapping) continue;
    char* end = each.data + each.bytes;
    char* limit = each.pages + each.page_bytes;
    const std::size_t before = damage(each.pages, each.data), behind = damage(end, limit);
    if (before + behind == 0) continue;
    std::memset(each.pages, 0xff, each.data - each.pages);
    std::memset(end, 0xff, limit - end);
    return behind ? std::to_string(behind) + " bytes were written just past the end of " +
                        label(each, "device")
                  : std::to_string(before) + " bytes were written just before the start of " +
                        label(each, "device");
  }
  return "";
}

std::size_t DeviceMemory::used_bytes() {
  std::lock_guard lock(mutex_);
  return used_;
}

}  // namespace kb::cpu
