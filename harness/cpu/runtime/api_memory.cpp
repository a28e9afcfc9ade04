// Allocation, copies, fills and IPC mappings of device memory.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "device_memory.hpp"
#include "diagnostics.hpp"
#include "stream.hpp"

namespace kb::cpu {
namespace {

DeviceMemory& memory() { return DeviceMemory::instance(); }

bool is_device(const void* pointer, Allocation* found) {
  return memory().find(pointer, found) && found->kind != MemoryKind::pinned;
}

/// Rejects what the driver rejects: ranges beyond an allocation and pointers of the wrong side.
cudaError_t check_range(const void* pointer, std::size_t bytes, const char* role,
                        bool must_be_device, bool must_be_host) {
  Allocation found;
  const bool device = is_device(pointer, &found);
  if (device && must_be_host && found.kind != MemoryKind::managed) {
    report(std::string("cudaErrorInvalidValue: the ") + role +
           " of a copy is device memory, but its direction says host memory");
    return cudaErrorInvalidValue;
  }
  Dl_info variable;
  if (!device && must_be_device && !memory().find(pointer, &found) && !dladdr(pointer, &variable)) {
    report(std::string("cudaErrorInvalidValue: the ") + role +
           " of a copy or fill is no device memory, but its direction says so");
    return cudaErrorInvalidValue;
  }
  if (!device) return cudaSuccess;
  const std::size_t offset = static_cast<const char*>(pointer) - found.data;
  if (bytes <= found.bytes - offset) return cudaSuccess;
  report(std::string("cudaErrorInvalidValue: the ") + role + " of a copy or fill of " +
         std::to_string(bytes) + " bytes has only " + std::to_string(found.bytes - offset) +
         " bytes");
  return cudaErrorInvalidValue;
}

std::size_t span(std::size_t pitch, std::size_t width, std::size_t height) {
  return height == 0 ? 0 : pitch * (height - 1) + width;
}

cudaError_t copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                 std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (!to || !from) return cudaErrorInvalidValue;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool checked = kind != cudaMemcpyDefault;
  if (cudaError_t error = check_range(to, span(to_pitch, width, height), "destination", to_device,
                                      checked && !to_device))
    return error;
  if (cudaError_t error = check_range(from, span(from_pitch, width, height), "source", from_device,
                                      checked && !from_device))
    return error;
  DeviceMemory::Window window(memory(), to, from);
  for (std::size_t row = 0; row < height; ++row)
    std::memmove(static_cast<char*>(to) + row * to_pitch,
                 static_cast<const char*>(from) + row * from_pitch, width);
  return cudaSuccess;
}

cudaError_t fill(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (cudaError_t error = check_range(to, span(pitch, width, height), "destination", true, false))
    return error;
  DeviceMemory::Window window(memory(), to, nullptr);
  for (std::size_t row = 0; row < height; ++row)
    std::memset(static_cast<char*>(to) + row * pitch, value, width);
  return cudaSuccess;
}

cudaError_t release(void* pointer, bool host_memory) {
  if (!pointer) return cudaSuccess;
  if (memory().release(pointer, host_memory)) return cudaSuccess;
  report("cudaErrorInvalidValue: freeing a pointer that is not the start of a live allocation");
  return cudaErrorInvalidValue;
}

}  // namespace

cudaError_t allocate(void** pointer, std::size_t bytes, MemoryKind kind) {
  if (!pointer) return result(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (sticky_error() != cudaSuccess || bytes == 0) return result();
  *pointer = memory().allocate(bytes, kind);
  return result(*pointer ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t copy_symbol(const volatile void* symbol, std::size_t symbol_bytes, std::size_t offset,
                        const void* other, std::size_t bytes, bool to_symbol, cudaMemcpyKind kind,
                        cudaStream_t stream) {
  if (offset > symbol_bytes || bytes > symbol_bytes - offset) return result(cudaErrorInvalidValue);
  char* at = static_cast<char*>(const_cast<void*>(symbol)) + offset;
  void* partner = const_cast<void*>(other);
  const bool device_side = kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
  return result(enqueue(stream, [=] {
    if (cudaError_t error =
            check_range(partner, bytes, to_symbol ? "source" : "destination", false, !device_side))
      return error;
    DeviceMemory::Window window(memory(), partner, nullptr);
    to_symbol ? std::memmove(at, partner, bytes) : std::memmove(partner, at, bytes);
    return cudaSuccess;
  }));
}

}  // namespace kb::cpu

using namespace kb::cpu;

extern "C" {

cudaError_t cudaFree(void* pointer) { return result(release(pointer, false)); }

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaError_t error = cudaStreamIsCapturing(stream, &status)) return error;
  // Inside a capture the graph will need the memory at every launch.
  if (status == cudaStreamCaptureStatusActive) return result();
  return cudaFree(pointer);
}

cudaError_t cudaFreeHost(void* pointer) { return result(release(pointer, true)); }

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  const auto total = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  const std::size_t used = memory().used_bytes();
  if (free_bytes) *free_bytes = used < total ? total - used : 0;
  if (total_bytes) *total_bytes = total;
  return result();
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (!attributes) return result(cudaErrorInvalidValue);
  *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, const_cast<void*>(pointer)};
  Allocation found;
  if (memory().find(pointer, &found)) {
    attributes->device = 0;
    attributes->devicePointer = const_cast<void*>(pointer);
    const bool device = found.kind == MemoryKind::device || found.kind == MemoryKind::ipc;
    if (device) attributes->hostPointer = nullptr;
    attributes->type = device                              ? cudaMemoryTypeDevice
                       : found.kind == MemoryKind::managed ? cudaMemoryTypeManaged
                                                           : cudaMemoryTypeHost;
  }
  return result();
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return result(cudaErrorInvalidMemcpyDirection);
  if (height > 1 && (width > to_pitch || width > from_pitch))
    return result(cudaErrorInvalidPitchValue);
  return result(
      enqueue(stream, [=] { return copy(to, to_pitch, from, from_pitch, width, height, kind); }));
}

cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return result(enqueue(stream, [=] { return fill(to, pitch, value, width, height); }));
}

cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned) {
  if (!pointer) return result(cudaErrorInvalidValue);
  *pointer = memory().open_ipc(&handle);
  return result(*pointer ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return result(memory().close_ipc(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}

}  // extern "C"
