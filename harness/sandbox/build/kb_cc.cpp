// The compiler launcher of candidates: makes a failed compilation a recorded result.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

#include "base/machine.h"
#include "sandbox/build/compilation.h"

namespace {

constexpr int usage_error = 2;

std::vector<std::string> split_at_semicolons(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ';');) words.push_back(word);
  return words;
}

std::vector<kb::HeaderFolder> header_folders(const std::vector<std::string>& texts) {
  std::vector<kb::HeaderFolder> folders;
  for (const std::string& text : texts) {
    const auto headers = kb::parse_header_folder(text);
    if (!headers) throw std::runtime_error("'" + text + "' is not NAME=FOLDER");
    folders.push_back(*headers);
  }
  return folders;
}

}  // namespace

int main(int argc, char** argv) {
  int separator = 1;
  while (separator < argc && std::string(argv[separator]) != "--") ++separator;

  kb::Options options;
  std::string cuda_check;
  std::string link;
  std::string policy;
  std::vector<std::string> headers, undeclared;
  CLI::App app(
      "Runs a compiler on one candidate. A failure is recorded in <object>.build.json and the stub "
      "takes the object's place.\nLimits: KB_COMPILE_TIMEOUT (s), KB_COMPILE_MEMORY, "
      "KB_COMPILE_OUTPUT (bytes), KB_COMPILE_SANDBOX (auto, landlock, none) and KB_STRICT (0, 1), "
      "from the environment or from kb_cc.conf beside the stub.",
      "kb_cc");
  app.footer("Usage: kb_cc [OPTIONS] -- COMPILER ARGS...");
  app.add_option("--stub", options.stub, "object that replaces the object of a failed candidate");
  app.add_option(
      "--cuda-check", cuda_check,
      "nvcc or clang command, words separated by ';', that must accept the source as well; it says "
      "how far to compile (-c, -fsyntax-only)");
  app.add_option("--link", link,
                 "command, words separated by ';', that must make a module of the object");
  app.add_option("--root", options.root, "folder below which messages show paths");
  app.add_option("--cuobjdump", options.cuobjdump, "program that lists what nvcc compiled");
  app.add_option("--policy", policy, "vendor libraries the run has declared: none, cublas, cudnn")
      ->default_val("none");
  app.add_option("--headers", headers, "NAME=FOLDER of headers that the run has declared")
      ->allow_extra_args(false);
  app.add_option("--undeclared-headers", undeclared,
                 "NAME=FOLDER of headers that it has not: including one is a policy_violation")
      ->allow_extra_args(false);
  app.add_option("--allow-read", options.allow_read, "folder that the compiler may read")
      ->allow_extra_args(false);
  app.add_flag("--allow-line-directives", options.allow_line_directives,
               "#line is no violation: for sources of the project's own");
  app.add_option("--allow-file", options.allow_files, "single file that the compiler may read")
      ->allow_extra_args(false);
  try {
    app.parse(separator, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : usage_error;
  }

  try {
    kb::require_machine();
    const auto library = kb::parse_library_policy(policy);
    if (!library) throw std::runtime_error("--policy " + policy + " is not none, cublas or cudnn");
    options.library = *library;
    options.headers = header_folders(headers);
    options.undeclared = header_folders(undeclared);
    options.cuda_check = split_at_semicolons(cuda_check);
    options.link = split_at_semicolons(link);
    const auto command =
        kb::parse_compile_command({argv + std::min(separator + 1, argc), argv + argc});
    const std::filesystem::path stub(options.stub);
    return kb::compile_candidate(options, command,
                                 kb::read_settings(stub.parent_path() / "kb_cc.conf"));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kb_cc: error: %s\n", error.what());
    return usage_error;
  }
}
