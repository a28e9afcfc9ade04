// A package is tied to sizes, device, contract, task and LibTorch; its description names them all.
#include "judge/session/baseline.h"

#include <ATen/Context.h>
#include <dlfcn.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <memory>
#include <stdexcept>
#include <type_traits>

#include "base/result/files.h"

namespace kb {

namespace fs = std::filesystem;

namespace {

// The loader of LibTorch 2.6 knows no mode that can be captured as a graph.
template <class Loader>
Forward load_package(const fs::path& package) {
  if constexpr (std::is_constructible_v<Loader, std::string, std::string, bool>) {
    // Packages for a GPU are linked against it, and only this library knows where it is. What is
    // wrong with it the loader says.
    dlopen("libtorch.so", RTLD_NOW | RTLD_GLOBAL);
    constexpr bool single_threaded = true;  // a run that may wait for others cannot be captured
    const auto loader = std::make_shared<Loader>(package.string(), "model", single_threaded);
    return [loader](const SizeBytes&, const std::vector<at::Tensor>& given) {
      return loader->run(given);
    };
  } else {
    throw std::runtime_error("the lane aoti needs LibTorch 2.7 or newer");
  }
}

}  // namespace

Forward prepare_baseline(const Task& task, const Baseline& baseline) {
  if (baseline.lane == "library") {
    at::globalContext().setBenchmarkCuDNN(true);
    if (at::hasCUDA()) at::globalContext().setBlasPreferredBackend(at::BlasBackend::Cublaslt);
  }
  if (baseline.lane == "aoti") {
    return load_package<torch::inductor::AOTIModelPackageLoader>(baseline.package);
  }
  return task.reference;
}

fs::path package_of(const CandidateEntry& entry, const std::string& contract) {
  const std::string task = "level" + std::to_string(entry.level) + "." + entry.task;
  return entry.build_dir / "aoti" / (task + "." + contract + ".pt2");
}

std::string why_no_package(const fs::path& package, const CandidateEntry& entry, const Task& task,
                           const SizeBytes& sizes, const std::string& contract,
                           const std::string& gpu) {
  const std::string remedy =
      "tools/export-aoti " + entry.build_dir.filename().string() + " makes it";
  fs::path description = package;
  description.replace_extension(".json");
  if (!fs::exists(description)) return "there is no AOTInductor package; " + remedy;
  const Json made = read_json(description);
  if (const Json& failure = made.at("failure"); !failure.is_null()) {
    return "the reference could not be exported: " + failure.get<std::string>();
  }
  const std::string library = "lib/tasks/" + package.stem().stem().string() + ".so";
  const Json wanted = {{"contract", contract},
                       {"device", gpu},
                       {"torch", entry.torch},
                       {"sizes", task.fields.to_json(sizes)},
                       {"task_sha256", file_sha256(entry.build_dir / library)}};
  for (const auto& [key, value] : wanted.items()) {
    if (made.at(key) != value) {
      return "the AOTInductor package was made for another " + key + "; " + remedy + " again";
    }
  }
  return fs::exists(package) ? "" : "there is no AOTInductor package; " + remedy;
}

}  // namespace kb
