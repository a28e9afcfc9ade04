// NVML comes with the driver and is loaded at run time. Its header is a package of its own that
// most toolkits lack, so the few functions used are declared here; their ABI has not changed since
// NVML 11. https://docs.nvidia.com/deploy/nvml-api
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>

#include "judge/device/gpu_state.h"

namespace kb {
namespace {

using Device = struct nvmlDevice_st*;
using Initialise = int (*)();
using FindByBus = int (*)(const char*, Device*);
using GetNumber = int (*)(Device, unsigned*);
using GetChosen = int (*)(Device, int, unsigned*);
using GetBits = int (*)(Device, unsigned long long*);
using GetProcesses = int (*)(Device, unsigned*, void*);
struct Memory {
  unsigned long long total, free, used;
};
using GetMemory = int (*)(Device, Memory*);
constexpr int success = 0, insufficient_size = 7;
constexpr int clock_sm = 1, clock_memory = 2, temperature_gpu = 0;

class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr || call<Initialise>("nvmlInit_v2")() != success) return;
    char bus[32] = {};
    if (cudaDeviceGetPCIBusId(bus, sizeof bus, 0) != cudaSuccess) return;
    ready_ = call<FindByBus>("nvmlDeviceGetHandleByPciBusId_v2")(bus, &device_) == success;
  }

  bool ready() const { return ready_; }

  // One number of the device, or null if this GPU does not tell.
  template <class Function, class... Before>
  Json number(const char* name, double scale, Before... before) const {
    unsigned value = 0;
    const auto function = call<Function>(name);
    if (function == nullptr || function(device_, before..., &value) != success) return nullptr;
    return value * scale;
  }

  Json throttle_reasons() const {
    unsigned long long bits = 0;
    const auto function = call<GetBits>("nvmlDeviceGetCurrentClocksThrottleReasons");
    Json reasons = Json::array();
    if (function == nullptr || function(device_, &bits) != success) return reasons;
    constexpr std::pair<unsigned long long, const char*> names[]{{0x04, "power_cap"},
                                                                 {0x08, "hardware_slowdown"},
                                                                 {0x20, "software_thermal"},
                                                                 {0x40, "hardware_thermal"},
                                                                 {0x80, "power_brake"}};
    for (const auto& [bit, name] : names) {
      if (bits & bit) reasons.push_back(name);
    }
    return reasons;
  }

  Json memory_used() const {
    Memory memory = {};
    const auto function = call<GetMemory>("nvmlDeviceGetMemoryInfo");
    if (function == nullptr || function(device_, &memory) != success) return nullptr;
    return memory.used;
  }

  Json processes() const {
    unsigned count = 0;
    const auto function = call<GetProcesses>("nvmlDeviceGetComputeRunningProcesses_v3");
    if (function == nullptr) return nullptr;
    const int result = function(device_, &count, nullptr);
    return result == success || result == insufficient_size ? Json(count) : Json();
  }

 private:
  template <class Function>
  Function call(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }

  void* library_;
  Device device_ = nullptr;
  bool ready_ = false;
};

}  // namespace

Json gpu_state() {
  static const Nvml nvml;
  if (!nvml.ready()) return nullptr;
  return {{"sm_mhz", nvml.number<GetChosen>("nvmlDeviceGetClockInfo", 1, clock_sm)},
          {"memory_mhz", nvml.number<GetChosen>("nvmlDeviceGetClockInfo", 1, clock_memory)},
          {"temperature_c", nvml.number<GetChosen>("nvmlDeviceGetTemperature", 1, temperature_gpu)},
          {"power_w", nvml.number<GetNumber>("nvmlDeviceGetPowerUsage", 1e-3)},
          {"throttle", nvml.throttle_reasons()},
          {"processes", nvml.processes()},
          {"memory_used_bytes", nvml.memory_used()}};
}

}  // namespace kb
