// https://cmake.org/cmake/help/latest/manual/ctest.1.html#environment-variables
#include "judge/device/gpu_choice.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace kb {
namespace {

constexpr char given_variable[] = "CTEST_RESOURCE_GROUP_0_GPUS";
constexpr char visible_variable[] = "CUDA_VISIBLE_DEVICES";
constexpr char uuid_start[] = "gpu_";
constexpr size_t most_digits = 4;

[[noreturn]] void refuse(const std::string& resource, const std::string& why) {
  throw std::runtime_error(std::string(given_variable) + "=" + resource + " " + why +
                           "; use the resource specification that the test kb.env generates");
}

std::string id_of(const std::string& resource) {
  const std::string before = "id:", after = ",slots:";
  const size_t end = resource.find(after);
  if (!resource.starts_with(before) || end == std::string::npos || end <= before.size()) {
    refuse(resource, "names no GPU");
  }
  if (resource.find(';') != std::string::npos)
    refuse(resource, "names several GPUs, a test uses one");
  return resource.substr(before.size(), end - before.size());
}

bool is_index(const std::string& text) {
  return !text.empty() && text.size() <= most_digits &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

// The first device that CUDA_VISIBLE_DEVICES names; without it CUDA takes device 0.
std::string first_of(const std::optional<std::string>& visible) {
  return visible ? visible->substr(0, visible->find(',')) : "0";
}

// Of an index the index, of a UUID, whole or its beginning, the place of that GPU.
std::optional<size_t> position_of(const std::string& device,
                                  const std::vector<std::string>& uuids) {
  if (is_index(device)) return std::stoul(device);
  const auto found = std::find_if(uuids.begin(), uuids.end(), [&](const std::string& uuid) {
    return !device.empty() && uuid.starts_with(device);
  });
  if (found == uuids.end()) return std::nullopt;
  return static_cast<size_t>(found - uuids.begin());
}

std::optional<std::string> visible_now() {
  const char* visible = std::getenv(visible_variable);
  return visible == nullptr ? std::nullopt : std::optional<std::string>(visible);
}

}  // namespace

std::vector<std::string> resource_ids(const std::vector<std::string>& uuids) {
  if (uuids.size() == 1) return {"0"};
  std::vector<std::string> ids;
  for (std::string id : uuids) {
    std::replace(id.begin(), id.end(), '-', '_');
    std::transform(id.begin(), id.end(), id.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    ids.push_back(std::move(id));
  }
  return ids;
}

std::string visible_devices(const std::string& resource,
                            const std::optional<std::string>& visible) {
  std::string id = id_of(resource);
  if (id.starts_with(uuid_start)) {
    std::replace(id.begin(), id.end(), '_', '-');
    return "GPU" + id.substr(std::string("gpu").size());
  }
  if (!is_index(id)) refuse(resource, "names no GPU");
  if (!visible) return id;
  std::istringstream list(*visible);
  size_t position = std::stoul(id);
  for (std::string device; std::getline(list, device, ',');) {
    if (position-- == 0) return device;
  }
  refuse(resource, std::string("counts further than ") + visible_variable + "=" + *visible);
}

size_t position_among(const std::vector<std::string>& uuids,
                      const std::optional<std::string>& visible) {
  return position_of(first_of(visible), uuids).value_or(0);
}

std::string name_among(const std::vector<std::string>& uuids,
                       const std::optional<std::string>& visible) {
  const std::string first = first_of(visible);
  const size_t position = position_of(first, uuids).value_or(uuids.size());
  return position < uuids.size() ? uuids[position] : first;
}

size_t position_of_given_gpu(const std::vector<std::string>& uuids) {
  return position_among(uuids, visible_now());
}

std::string given_gpu(const std::vector<std::string>& uuids) {
  return name_among(uuids, visible_now());
}

void use_given_gpu() {
  const char* resource = std::getenv(given_variable);
  if (resource == nullptr) return;
  setenv(visible_variable, visible_devices(resource, visible_now()).c_str(), 1);
}

}  // namespace kb
