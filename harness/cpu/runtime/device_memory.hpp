// Device memory: allocations between guard pages that only kernels and copies may touch.
#pragma once

#include <cudacpu/api.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace kb::cpu {

struct Allocation {
  char* data;
  std::size_t bytes;
  MemoryKind kind;
  unsigned serial;
  char* pages;  ///< the accessible pages around the data; null for memory of the C++ heap
  std::size_t page_bytes;
  std::string name;  ///< of the tensor, for IPC mappings that have got one
  std::size_t tensor_offset = 0, tensor_bytes = 0;  ///< where it lies in the mapping
};

/// Pages of device memory.
struct Pages {
  char* begin;
  std::size_t bytes;
};

/// All memory that CUDA calls have handed out. Without a sanitizer, device memory ends at a guard
/// page, is inaccessible while host code runs, and the rest of its first and last page is checked
/// after every kernel.
class DeviceMemory {
 public:
  static DeviceMemory& instance();

  /// Returns null when there is no memory.
  void* allocate(std::size_t bytes, MemoryKind kind);
  bool release(void* data, bool host_memory);
  void* open_ipc(const void* handle);
  bool close_ipc(void* data);
  void name_ipc(const void* data, const std::string& name);

  /// Copies the record of the allocation that contains `address`.
  bool find(const void* address, Allocation* found);
  /// "4 bytes past the end of a 512-byte device allocation", or "" for unrelated addresses.
  std::string describe(const void* address);
  /// True for addresses in guarded device memory; safe in a signal handler.
  bool owns(const void* address);

  /// Makes device memory accessible while at least one guard object exists.
  class Access {
   public:
    explicit Access(DeviceMemory& memory) : memory_(memory) { memory_.open_all(); }
    ~Access() { memory_.close_all(); }
    Access(const Access&) = delete;

   private:
    DeviceMemory& memory_;
  };
  /// Makes the allocations around up to two addresses accessible, for a copy by the host.
  class Window {
   public:
    Window(DeviceMemory& memory, const void* a, const void* b);
    ~Window();
    Window(const Window&) = delete;

   private:
    std::lock_guard<std::recursive_mutex> lock_;
    std::vector<const Allocation*> opened_;
  };

  /// Bytes written next to an allocation; "" when all is well.
  std::string check_canaries();
  std::size_t used_bytes();
  /// What can be protected: of no memory on the heap.
  std::vector<Pages> guarded_pages();

 private:
  using Iterator = std::map<std::uintptr_t, Allocation>::iterator;

  DeviceMemory() = default;
  void open_all();
  void close_all();
  void* add(Allocation allocation);
  Iterator containing(const void* address);
  void retire(const Allocation& allocation);

  std::recursive_mutex mutex_;
  std::map<std::uintptr_t, Allocation> allocations_;  ///< by start of pages (heap: of data)
  std::vector<Allocation> retired_;                   ///< freed, still reserved to catch late uses
  int open_ = 0;
  unsigned serial_ = 0;
  std::size_t used_ = 0;
};

}  // namespace kb::cpu
