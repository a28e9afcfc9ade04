// Reading the manifest, and the life of a result file.
#include "base/result/candidate_entry.h"

#include <stdexcept>

#include "base/printable.h"
#include "base/sha256.h"

namespace kb {

namespace fs = std::filesystem;

namespace {

void shorten_paths(Json& json, const std::string& folder) {
  if (json.is_structured()) {
    for (Json& inner : json) shorten_paths(inner, folder);
  }
  if (!json.is_string()) return;
  auto text = json.get<std::string>();
  if (text.find(folder) == std::string::npos) return;
  for (size_t at; (at = text.find(folder)) != std::string::npos;) text.erase(at, folder.size());
  json = printable_text(text);  // what stood around a path may be a tag of CTest's now
}

}  // namespace

CandidateEntry find_candidate(const fs::path& manifest, const std::string& name) {
  const Json json = read_json(manifest);
  for (const Json& c : json.at("candidates")) {
    if (c.at("name") != name) continue;
    CandidateEntry entry;
    entry.name = name;
    entry.run = c.at("run");
    entry.sample = c.at("sample").is_null() ? "" : c.at("sample");
    entry.level = c.at("level");
    entry.task = c.at("task");
    entry.backend = json.at("backend");
    entry.contract = json.at("contract");
    entry.sizes = json.at("sizes");
    entry.required_isolation = json.at("required_isolation");
    entry.lanes = json.at("lanes").get<std::vector<std::string>>();
    entry.torch = json.at("torch");
    // Paths hang on the manifest's own place, so that a build tree can be moved.
    entry.build_dir = fs::absolute(manifest).parent_path();
    entry.source_dir = std::string(json.at("source_dir"));
    entry.source = entry.source_dir / std::string(c.at("source"));
    entry.module = entry.build_dir / std::string(c.at("module"));
    entry.build_json = entry.build_dir / std::string(c.at("build_json"));
    entry.result = entry.build_dir / std::string(c.at("result"));
    entry.library = c.at("library");
    for (const Json& file : c.at("preload")) entry.preload.emplace_back(std::string(file));
    return entry;
  }
  throw std::runtime_error(manifest.string() + " has no candidate '" + name +
                           "'; configure and build again");
}

std::string harness_sha256(const fs::path& build_dir) {
  std::string all;
  const Json manifest = read_json(build_dir / "manifest.json");
  for (const std::string file : manifest.at("harness")) all += file_sha256(build_dir / file);
  return sha256_hex(all);
}

std::string sources_sha256(const fs::path& build_dir) {
  return file_sha256(build_dir / "sources.sha256");
}

Json read_environment(const fs::path& build_dir) {
  try {
    return read_json(build_dir / "env.json");
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string(error.what()) +
                             "; it is written by the test kb.env (ctest -R '^kb.env$')");
  }
}

std::vector<std::string> scheduled_gpus(const fs::path& build_dir) {
  const Json environment = read_environment(build_dir);
  std::vector<std::string> uuids;
  for (const Json& gpu : environment.at("gpus")) uuids.push_back(gpu.at("uuid"));
  return uuids;
}

std::vector<std::string> configured_tasks(const Json& manifest) {
  std::vector<std::string> names;
  for (const auto& [level, of] : manifest.at("levels").items()) {
    for (const Json& slug : of.at("tasks")) {
      names.push_back("level" + level + "/" + slug.get<std::string>());
    }
  }
  return names;
}

ResultFile::ResultFile(CandidateEntry entry) : entry_(std::move(entry)) {}

void ResultFile::begin() {
  fs::path benchmarks = entry_.result;  // of an earlier module, until .bench runs again
  fs::remove(benchmarks.replace_extension("bench.json"));
  const Json environment = read_environment(entry_.build_dir);
  json_ = Json::object();
  json_["schema"] = 1;
  json_["name"] = entry_.name;
  json_["run"] = entry_.run;
  json_["sample"] = entry_.sample.empty() ? Json() : Json(entry_.sample);
  json_["level"] = entry_.level;
  json_["task"] = entry_.task;
  json_["category"] = nullptr;
  json_["backend"] = entry_.backend;
  json_["verdict"] = nullptr;
  json_["stage"] = "build";
  json_["evidence"] = "";
  json_["time"] = utc_now();
  const bool module_exists = fs::exists(entry_.module);
  const std::string task =
      "lib/tasks/level" + std::to_string(entry_.level) + "." + entry_.task + ".so";
  json_["hashes"] = {
      {"module", module_exists ? Json(file_sha256(entry_.module)) : Json()},
      {"source", read_json(entry_.build_json).at("source_sha256")},  // what was compiled
      {"task", file_sha256(entry_.build_dir / task)},
      {"harness", environment.at("harness_sha256")},
  };
  json_["machine"] = {{"host", environment.at("host")}, {"gpu", environment.at("gpu")}};
  json_["isolation"] = nullptr;
  json_["build"] = nullptr;
  json_["correctness"] = nullptr;
  json_["timing"] = nullptr;
}

void ResultFile::resume() {
  json_ = read_json(entry_.result);
  const Json& hashes = json_.at("hashes");
  if (!fs::exists(entry_.module)) {
    throw std::runtime_error(entry_.module.string() + " is missing; build again");
  }
  if (hashes.at("module") != file_sha256(entry_.module) ||
      hashes.at("harness") != harness_sha256(entry_.build_dir)) {
    throw std::runtime_error(
        entry_.result.string() +
        " belongs to another build; run this candidate's tests from .build on");
  }
}

void ResultFile::save(const std::string& stage, const Json& verdict, const std::string& evidence) {
  json_["stage"] = stage;
  json_["verdict"] = verdict;
  json_["evidence"] = printable(evidence);  // one line, whatever it quotes
  json_["time"] = utc_now();
  for (const fs::path& folder : {entry_.build_dir, entry_.source_dir}) {
    shorten_paths(json_, folder.string() + "/");
  }
  replace_json(entry_.result, json_);
}

}  // namespace kb
