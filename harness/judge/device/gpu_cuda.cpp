// Asks the CUDA runtime, which respects CUDA_VISIBLE_DEVICES as set by job schedulers.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <fstream>

#include "judge/device/gpu.h"

namespace kb {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// "NVRM version: NVIDIA UNIX ... Kernel Module  580.159.04  ..." -> "580.159.04"
std::string driver_version() {
  std::ifstream in("/proc/driver/nvidia/version");
  for (std::string word; in >> word;) {
    if (word.find('.') != std::string::npos &&
        word.find_first_not_of("0123456789.") == std::string::npos) {
      return word;
    }
  }
  int version = 0;
  cudaDriverGetVersion(&version);
  return "CUDA " + version_text(version);
}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char hex[4];
    std::snprintf(hex, sizeof hex, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += hex;
  }
  return text;
}

}  // namespace

std::vector<Json> find_gpus() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  int runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  std::vector<Json> gpus;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, i) != cudaSuccess) continue;
    gpus.push_back({{"name", p.name},
                    {"uuid", uuid_text(p.uuid)},
                    {"capability", std::to_string(p.major) + "." + std::to_string(p.minor)},
                    {"compute_capability_digits", std::to_string(p.major * 10 + p.minor)},
                    {"driver", driver_version()},
                    {"cuda_runtime", version_text(runtime)},
                    {"sm_count", p.multiProcessorCount},
                    {"l2_bytes", p.l2CacheSize},
                    {"memory_bytes", p.totalGlobalMem}});
  }
  return gpus;
}

std::string no_gpu_reason() {
  int count = 0;
  return cudaGetErrorString(cudaGetDeviceCount(&count));
}

}  // namespace kb
