// kb_peaks: sees to it that the peaks of every GPU in env.json are known. A program of its own
// measures them: that one loads LibTorch and CUDA, for which nobody wants to wait each time.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <iostream>

#include "judge/device/peaks_file.h"

namespace kb {
namespace {

int run(const std::filesystem::path& manifest) {
  const std::filesystem::path build_dir = std::filesystem::absolute(manifest).parent_path();
  if (all_peaks_known(build_dir)) {
    std::cout << (build_dir / "peaks").string() << " is up to date\n";
    return 0;
  }
  const std::string program = build_dir / "bin/kb_measure_peaks";
  execl(program.c_str(), program.c_str(), "--manifest", manifest.c_str(), nullptr);
  throw std::runtime_error("cannot start " + program + ": " + std::strerror(errno) +
                           "; build again");
}

}  // namespace
}  // namespace kb

int main(int argc, char** argv) {
  CLI::App app("Measures the peaks of GPUs that are not in peaks/ yet");
  std::string manifest;
  app.add_option("--manifest", manifest, "manifest.json of the build tree; env.json lies beside it")
      ->required();
  CLI11_PARSE(app, argc, argv);
  try {
    return kb::run(manifest);
  } catch (const std::exception& error) {
    std::cerr << "kb_peaks: " << error.what() << "\n";
    return 2;
  }
}
