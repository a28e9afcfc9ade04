// kb_env: writes env.json, the facts of this machine and of the programs that judge on it, and the
// list of GPUs that CTest schedules tests on. Runs before all other tests (kb.env).
#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/machine.h"
#include "base/result/candidate_entry.h"
#include "base/supervise.h"
#include "judge/device/gpu.h"
#include "judge/device/gpu_choice.h"

namespace kb {
namespace {

std::string first_value(const char* path, const std::string& key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const size_t start = line.find_first_not_of(" \t:=\"", key.size());
    std::string value = start == std::string::npos ? "" : line.substr(start);
    if (value.ends_with('"')) value.pop_back();
    return value;
  }
  return "unknown";
}

Json host_facts() {
  utsname names{};
  uname(&names);
  return {{"os", first_value("/etc/os-release", "PRETTY_NAME=")},
          {"kernel", names.release},
          {"cpu", first_value("/proc/cpuinfo", "model name")},
          {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
          {"memory_bytes", int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE)}};
}

// What the runner says of itself, in a process of its own: it gives up its rights to find out.
std::string isolation(const std::filesystem::path& build_dir) {
  Launch launch;
  launch.words = {build_dir / "bin/kb_runner", "--isolation"};
  launch.temporary_directory = build_dir;
  launch.timeout_s = 60;
  std::string said;
  const SignalRouter signals;
  const Outcome outcome =
      run_supervised(launch, signals, [&](std::string_view text) { said += text; });
  if (outcome.exit_code != 0 || said.empty()) {
    throw std::runtime_error(launch.words.front() + " --isolation does not work: " + said +
                             " (build again)");
  }
  return said.substr(0, said.find('\n'));
}

// CTest's resource specification. A judge takes one of a GPU's two slots: while one judge has the
// GPU (device/gpu_turn.h), the next one's program loads. Without a GPU a made-up one lets the tests
// start, and skip.
Json resource_spec(const std::vector<Json>& gpus) {
  std::vector<std::string> uuids;
  for (const Json& gpu : gpus) uuids.push_back(gpu.at("uuid"));
  if (uuids.empty()) uuids.emplace_back("none");
  Json list = Json::array();
  for (const std::string& id : resource_ids(uuids)) list.push_back(Json{{"id", id}, {"slots", 2}});
  return {{"version", {{"major", 1}, {"minor", 0}}},
          {"local", Json::array({Json{{"gpus", list}}})}};
}

// Why these GPUs and this build do not go together; empty if they do. Tests go to any of the GPUs.
std::string misfit(const std::vector<Json>& gpus, const std::string& built_for) {
  const std::string built = built_for.substr(0, built_for.find_first_not_of("0123456789"));
  std::string fitting, other;
  for (const Json& gpu : gpus) {
    if (gpu.at("compute_capability_digits") == built) {
      fitting += (fitting.empty() ? "" : ",") + gpu.at("uuid").get<std::string>();
    } else if (other.empty()) {
      other = gpu.at("name").get<std::string>() + " is sm_" +
              gpu.at("compute_capability_digits").get<std::string>();
    }
  }
  if (other.empty()) return "";
  return "this build is for sm_" + built + ", but " + other + ": " +
         (fitting.empty() ? "configure with this GPU's preset (cmake --list-presets)"
                          : "hide it with CUDA_VISIBLE_DEVICES=" + fitting);
}

int run(const std::filesystem::path& manifest_path) {
  const Json manifest = read_json(manifest_path);
  const std::filesystem::path build_dir = std::filesystem::absolute(manifest_path).parent_path();
  const std::vector<Json> gpus =
      manifest.at("backend") == "cuda" ? find_gpus() : std::vector<Json>();
  if (manifest.at("backend") == "cuda") {
    if (gpus.empty()) {
      std::cerr << "no GPU is visible: " << no_gpu_reason()
                << "; on a machine without one use the preset cpu\n";
      return 1;
    }
    const std::string why = misfit(gpus, manifest.at("cuda_architectures"));
    if (!why.empty()) {
      std::cerr << why << "\n";
      return 1;
    }
  }
  replace_json(build_dir / "env.json", {{"schema", 1},
                                        {"backend", manifest.at("backend")},
                                        {"sanitize", manifest.at("sanitize")},
                                        {"time", utc_now()},
                                        {"harness_version", manifest.at("version")},
                                        {"harness_sha256", harness_sha256(build_dir)},
                                        {"sources_sha256", sources_sha256(build_dir)},
                                        {"torch", manifest.at("torch")},
                                        {"isolation", isolation(build_dir)},
                                        {"host", host_facts()},
                                        {"gpu", gpus.empty() ? Json() : gpus[0]},
                                        {"gpus", gpus}});
  replace_json(build_dir / "gpus.json", resource_spec(gpus));
  return 0;
}

}  // namespace
}  // namespace kb

int main(int argc, char** argv) {
  CLI::App app("Writes env.json beside the manifest");
  std::string manifest;
  app.add_option("--manifest", manifest, "manifest.json of the build tree")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    kb::require_machine();
    return kb::run(manifest);
  } catch (const std::exception& error) {
    std::cerr << "kb_env: " << error.what() << "\n";
    return 2;
  }
}
