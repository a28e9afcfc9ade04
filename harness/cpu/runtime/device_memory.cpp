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
constexpr int read_and_write = PROT_READ | PROT_WRITE;

#if defined(KB_SANITIZE_ADDRESS) || defined(KB_SANITIZE_THREAD)
constexpr bool guarded = false;  // the sanitizer watches the heap more closely than pages can
#else
constexpr bool guarded = true;
#endif

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Reserves addresses with guards on both sides; returns the start of the middle, or null.
char* reserve(std::size_t bytes, void* at = nullptr) {
  void* mapping = mmap(at, bytes + 2 * guard, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0), -1, 0);
  return mapping == MAP_FAILED ? nullptr : static_cast<char*>(mapping) + guard;
}
void unmap(const Allocation& each) { munmap(each.pages - guard, each.page_bytes + 2 * guard); }

void protect(const Allocation& each, int access) {
  if (guarded && each.pages) mprotect(each.pages, each.page_bytes, access);
}

/// Number of bytes in [from, to) that a kernel has changed; writes them back.
std::size_t damage(char* from, char* to) {
  const auto changed =
      std::count_if(from, to, [](char byte) { return byte != static_cast<char>(0xff); });
  if (changed > 0) std::memset(from, 0xff, to - from);
  return static_cast<std::size_t>(changed);
}

std::string label(const Allocation& allocation, const char* state = "device") {
  return "the " + std::to_string(allocation.bytes) + "-byte " + state + " allocation no. " +
         std::to_string(allocation.serial);
}

}  // namespace

DeviceMemory& DeviceMemory::instance() {
  static auto* memory = new DeviceMemory;  // kernels may run while static objects are destroyed
  return *memory;
}

void* DeviceMemory::add(Allocation allocation) {
  allocation.serial = ++serial_;
  if (open_ == 0) protect(allocation, PROT_NONE);
  used_ += allocation.bytes;
  const char* start = allocation.pages ? allocation.pages : allocation.data;
  allocations_[reinterpret_cast<std::uintptr_t>(start)] = allocation;
  return allocation.data;
}

void* DeviceMemory::allocate(std::size_t bytes, MemoryKind kind) {
  watch_faults();
  std::lock_guard lock(mutex_);
  if (!guarded || kind != MemoryKind::device) {
    void* data = nullptr;
    if (posix_memalign(&data, alignment, bytes) != 0) return nullptr;
    std::memset(data, 0xff, bytes);
    return add({static_cast<char*>(data), bytes, kind, 0, nullptr, 0});
  }
  const std::size_t padded = round_up(bytes, alignment), page_bytes = round_up(padded, page);
  if (page_bytes + 2 * guard < bytes) return nullptr;
  char* pages = reserve(page_bytes);
  if (!pages) return nullptr;
  // At the end of its pages, so that the first byte behind the padding faults.
  const Allocation result{pages + page_bytes - padded, bytes, kind, 0, pages, page_bytes};
  if (mprotect(pages, page_bytes, read_and_write) != 0) return unmap(result), nullptr;
  std::memset(pages, 0xff, page_bytes);
  return add(result);
}

DeviceMemory::Iterator DeviceMemory::containing(const void* address) {
  auto next = allocations_.upper_bound(reinterpret_cast<std::uintptr_t>(address));
  if (next == allocations_.begin()) return allocations_.end();
  const Allocation& candidate = (--next)->second;
  const auto* byte = static_cast<const char*>(address);
  return byte >= candidate.data && byte < candidate.data + candidate.bytes ? next
                                                                           : allocations_.end();
}

bool DeviceMemory::find(const void* address, Allocation* found) {
  std::lock_guard lock(mutex_);
  const auto at = containing(address);
  if (at != allocations_.end()) *found = at->second;
  return at != allocations_.end();
}

bool DeviceMemory::release(void* data, bool host_memory) {
  std::lock_guard lock(mutex_);
  const auto at = containing(data);
  if (at == allocations_.end() || at->second.data != data || at->second.kind == MemoryKind::ipc ||
      host_memory != (at->second.kind == MemoryKind::pinned))
    return false;
  used_ -= at->second.bytes;
  at->second.pages ? retire(at->second) : std::free(data);
  allocations_.erase(at);
  return true;
}

// Gives the memory back but keeps the addresses inaccessible for a while: a late use then faults
// instead of hitting a younger allocation.
void DeviceMemory::retire(const Allocation& allocation) {
  reserve(allocation.page_bytes, allocation.pages - guard);
  retired_.push_back(allocation);
  if (retired_.size() <= retired_limit) return;
  unmap(retired_.front());
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
  char* pages = reserve(ipc.map_bytes);
  if (!pages) return nullptr;
  const Allocation result{pages, ipc.map_bytes,   MemoryKind::ipc, 0, pages, ipc.map_bytes,
                          "",    ipc.data_offset, ipc.data_bytes};
  if (mmap(pages, ipc.map_bytes, read_and_write, MAP_SHARED | MAP_FIXED, ipc.fd,
           static_cast<off_t>(ipc.file_offset)) == MAP_FAILED)
    return unmap(result), nullptr;
  const std::size_t end = ipc.data_offset + ipc.data_bytes;
  poison(pages, ipc.data_offset);
  poison(pages + end, ipc.map_bytes - end);
  return add(result);
}

bool DeviceMemory::close_ipc(void* data) {
  std::lock_guard lock(mutex_);
  const auto at = containing(data);
  if (at == allocations_.end() || at->second.data != data || at->second.kind != MemoryKind::ipc)
    return false;
  used_ -= at->second.bytes;
  unpoison(data, at->second.bytes);
  unmap(at->second);
  allocations_.erase(at);
  return true;
}

void DeviceMemory::name_ipc(const void* data, const std::string& name) {
  std::lock_guard lock(mutex_);
  const auto at = containing(data);
  if (at == allocations_.end() || at->second.kind != MemoryKind::ipc) return;
  if (at->second.name.empty()) at->second.name = name;
}

void name_tensor(const void* base, const char* name) {
  DeviceMemory::instance().name_ipc(base, name);
}

std::string DeviceMemory::describe(const void* address) {
  std::lock_guard lock(mutex_);
  const auto* byte = static_cast<const char*>(address);
  auto around = [&](const Allocation& each) {
    return each.pages && byte >= each.pages - guard && byte < each.pages + each.page_bytes + guard;
  };
  for (const auto& [start, each] : allocations_) {
    if (!around(each)) continue;
    const bool named = !each.name.empty();
    const std::ptrdiff_t offset = byte - each.data - (named ? each.tensor_offset : 0),
                         size = named ? each.tensor_bytes : each.bytes;
    const std::string place = offset < 0 ? std::to_string(-offset) + " bytes before the start of "
                              : offset < size
                                  ? "at byte " + std::to_string(offset) + " of "
                                  : std::to_string(offset - size) + " bytes past the end of ";
    return place + (named ? "the tensor '" + each.name + "'" : label(each));
  }
  for (const Allocation& each : retired_)
    if (around(each)) return "after free: inside " + label(each, "freed");
  return "";
}

bool DeviceMemory::owns(const void* address) {
  if (!mutex_.try_lock()) return false;
  const bool found = !describe(address).empty();
  mutex_.unlock();
  return found;
}

void DeviceMemory::open_all() {
  std::lock_guard lock(mutex_);
  if (open_++ > 0) return;
  for (const auto& [start, each] : allocations_) protect(each, read_and_write);
}

void DeviceMemory::close_all() {
  std::lock_guard lock(mutex_);
  if (--open_ > 0) return;
  for (const auto& [start, each] : allocations_) protect(each, PROT_NONE);
}

DeviceMemory::Window::Window(DeviceMemory& memory, const void* a, const void* b)
    : lock_(memory.mutex_) {
  if (memory.open_ > 0) return;
  for (const void* address : {a, b}) {
    const auto at = memory.containing(address);
    if (at == memory.allocations_.end()) continue;
    protect(at->second, read_and_write);
    opened_.push_back(&at->second);
  }
}

DeviceMemory::Window::~Window() {
  for (const Allocation* allocation : opened_) protect(*allocation, PROT_NONE);
}

std::string DeviceMemory::check_canaries() {
  std::lock_guard lock(mutex_);
  for (auto& [start, each] : allocations_) {
    if (each.kind != MemoryKind::device || !each.pages) continue;
    const std::size_t before = damage(each.pages, each.data);
    const std::size_t behind = damage(each.data + each.bytes, each.pages + each.page_bytes);
    if (before + behind == 0) continue;
    return std::to_string(behind ? behind : before) + " bytes were written just " +
           (behind ? "past the end of " : "before the start of ") + label(each);
  }
  return "";
}

std::vector<Pages> DeviceMemory::guarded_pages() {
  std::lock_guard lock(mutex_);
  std::vector<Pages> found;
  for (const auto& [start, each] : allocations_)
    if (guarded && each.pages) found.push_back({each.pages, each.page_bytes});
  return found;
}

std::size_t DeviceMemory::used_bytes() {
  std::lock_guard lock(mutex_);
  return used_;
}

}  // namespace kb::cpu
