// NVML comes with the driver, not with the toolkit, so it is loaded at run time.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nvml.h>

#include <cstdio>

#include "device/gpu_state.h"

namespace kb {
namespace {

class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr || call<decltype(&nvmlInit_v2)>("nvmlInit_v2")() != NVML_SUCCESS)
      return;
    char bus[32] = {};
    if (cudaDeviceGetPCIBusId(bus, sizeof bus, 0) != cudaSuccess) return;
    ready_ = call<decltype(&nvmlDeviceGetHandleByPciBusId_v2)>("nvmlDeviceGetHandleByPciBusId_v2")(
                 bus, &device_) == NVML_SUCCESS;
  }

  bool ready() const { return ready_; }

  // One number of the device, or null if this GPU does not tell.
  template <class Function, class... Before>
  Json number(const char* name, double scale, Before... before) const {
    unsigned value = 0;
    const auto function = call<Function>(name);
    if (function == nullptr || function(device_, before..., &value) != NVML_SUCCESS) return nullptr;
    return value * scale;
  }

  Json throttle_reasons() const {
    unsigned long long bits = 0;
    const auto function = call<decltype(&nvmlDeviceGetCurrentClocksThrottleReasons)>(
        "nvmlDeviceGetCurrentClocksThrottleReasons");
    Json reasons = Json::array();
    if (function == nullptr || function(device_, &bits) != NVML_SUCCESS) return reasons;
    constexpr std::pair<unsigned long long, const char*> names[]{
        {nvmlClocksThrottleReasonSwPowerCap, "power_cap"},
        {nvmlClocksThrottleReasonHwSlowdown, "hardware_slowdown"},
        {nvmlClocksThrottleReasonSwThermalSlowdown, "software_thermal"},
        {nvmlClocksThrottleReasonHwThermalSlowdown, "hardware_thermal"},
        {nvmlClocksThrottleReasonHwPowerBrakeSlowdown, "power_brake"}};
    for (const auto& [bit, name] : names) {
      if (bits & bit) reasons.push_back(name);
    }
    return reasons;
  }

  Json processes() const {
    unsigned count = 0;
    const auto function = call<decltype(&nvmlDeviceGetComputeRunningProcesses_v3)>(
        "nvmlDeviceGetComputeRunningProcesses_v3");
    if (function == nullptr) return nullptr;
    const nvmlReturn_t result = function(device_, &count, nullptr);
    return result == NVML_SUCCESS || result == NVML_ERROR_INSUFFICIENT_SIZE ? Json(count) : Json();
  }

 private:
  template <class Function>
  Function call(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }

  void* library_;
  nvmlDevice_t device_ = nullptr;
  bool ready_ = false;
};

}  // namespace

Json gpu_state() {
  static const Nvml nvml;
  if (!nvml.ready()) return nullptr;
  using Clock = decltype(&nvmlDeviceGetClockInfo);
  return {
      {"sm_mhz", nvml.number<Clock>("nvmlDeviceGetClockInfo", 1, NVML_CLOCK_SM)},
      {"memory_mhz", nvml.number<Clock>("nvmlDeviceGetClockInfo", 1, NVML_CLOCK_MEM)},
      {"temperature_c", nvml.number<decltype(&nvmlDeviceGetTemperature)>("nvmlDeviceGetTemperature",
                                                                         1, NVML_TEMPERATURE_GPU)},
      {"power_w", nvml.number<decltype(&nvmlDeviceGetPowerUsage)>("nvmlDeviceGetPowerUsage", 1e-3)},
      {"throttle", nvml.throttle_reasons()},
      {"processes", nvml.processes()}};
}

}  // namespace kb
