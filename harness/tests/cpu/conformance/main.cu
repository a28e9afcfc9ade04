// Runs the features named on the command line, or all: one line each and what failed, exit code 1
// if any did.
//   conformance [--json <file>] [<feature>...]     the file says on which device, and what came out
#include <cstring>

#include "conformance.h"

namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

/// The device and the versions as the members of a JSON object.
std::string environment() {
  cudaDeviceProp properties;
  int driver = 0, runtime = 0;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess ||
      cudaDriverGetVersion(&driver) != cudaSuccess ||
      cudaRuntimeGetVersion(&runtime) != cudaSuccess)
    return quoted("device") + ": null";
  return quoted("device") + ": " + quoted(properties.name) + ",\n  " +
         quoted("compute_capability") + ": " +
         quoted(std::to_string(properties.major) + "." + std::to_string(properties.minor)) +
         ",\n  " + quoted("cuda_driver") + ": " + std::to_string(driver) + ",\n  " +
         quoted("cuda_runtime") + ": " + std::to_string(runtime);
}

}  // namespace

int main(int count, char** values) {
  const char* json = nullptr;
  std::vector<std::string> names;
  for (int i = 1; i < count; ++i) {
    if (!std::strcmp(values[i], "--json") && i + 1 < count)
      json = values[++i];
    else
      names.push_back(values[i]);
  }
  int failed = 0, run = 0;
  std::string features;
  for (auto* feature = conformance::features(); feature; feature = feature->next) {
    bool wanted = names.empty();
    for (const std::string& name : names) wanted |= name == feature->name;
    if (!wanted) continue;
    conformance::failures().clear();
    feature->run();
    const auto& failures = conformance::failures();
    ++run;
    failed += !failures.empty();
    features += std::string(features.empty() ? "" : ",") + "\n    " + quoted(feature->name) + ": [";
    for (size_t i = 0; i < failures.size() && i < 10; ++i) {
      std::printf("%s\n", failures[i].c_str());
      features += (i ? ", " : "") + quoted(failures[i]);
    }
    features += "]";
    std::printf("%-32s %s\n", feature->name, failures.empty() ? "ok" : "FAIL");
    std::fflush(stdout);
  }
  std::printf("%d features, %d failed\n", run, failed);
  if (json) {
    std::FILE* file = std::fopen(json, "w");
    if (!file) return std::perror(json), 2;
    std::fprintf(file, "{\n  %s,\n  %s: %d,\n  %s: %d,\n  %s: {%s\n  }\n}\n", environment().c_str(),
                 "\"features_run\"", run, "\"features_failed\"", failed, "\"failures_by_feature\"",
                 features.c_str());
    if (std::fclose(file) != 0) return std::perror(json), 2;
  }
  // A name that matches nothing is a failure of the test list.
  return failed > 0 || run == 0 || (!names.empty() && run != int(names.size()));
}
