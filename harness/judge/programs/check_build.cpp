// kb_check_build: the first step of a candidate. Did it compile, and may its module be loaded?
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "base/printable.h"
#include "base/result/candidate_entry.h"
#include "base/result/files.h"
#include "base/result/verdict.h"
#include "judge/programs/signature_hint.h"
#include "sandbox/build/module_audit.h"

namespace kb {
namespace {

std::string first_error(const std::string& diagnostics) {
  size_t start = diagnostics.find("error");
  if (start == std::string::npos) start = 0;
  start = diagnostics.rfind('\n', start);
  start = start == std::string::npos ? 0 : start + 1;
  return diagnostics.substr(start, diagnostics.find('\n', start) - start);
}

void judge_compilation(const Json& build) {
  const std::string status = build.at("status");
  if (status == "ok") return;
  const std::string diagnostics = build.at("diagnostics");
  const std::string cause = build.at("reason").is_null() ? first_error(diagnostics)
                                                         : build.at("reason").get<std::string>();
  if (status == "unsupported") {
    throw Decided(Verdict::skipped, "the CPU backend cannot run it: " + cause);
  }
  if (status == "policy_violation") throw Decided(Verdict::policy_violation, cause);
  const std::map<std::string, std::string> words{
      {"compile_error", "it does not compile: " + cause + signature_hint(diagnostics)},
      {"timeout", "compiling took too long: " + cause},
      {"out_of_memory", "compiling took too much memory: " + cause},
      {"crash", "the compiler crashed: " + cause}};
  throw Decided(Verdict::compile_error, words.contains(status) ? words.at(status) : status);
}

void judge_module(const CandidateEntry& entry) {
  ModulePolicy policy;
  policy.extra_needed = {"libasan.so", "libubsan.so", "libtsan.so"};
  policy.library = parse_library_policy(entry.library).value_or(LibraryPolicy::none);
  const ModuleAudit audit = audit_module(entry.module, policy);
  if (audit.verdict == AuditVerdict::ok) return;
  throw Decided(audit.verdict == AuditVerdict::compile_error ? Verdict::compile_error
                                                             : Verdict::policy_violation,
                audit.sentence);
}

int check(const std::filesystem::path& manifest, const std::string& candidate) {
  ResultFile file(find_candidate(manifest, candidate));
  const CandidateEntry& entry = file.entry();
  if (!std::filesystem::exists(entry.module) || !std::filesystem::exists(entry.build_json)) {
    throw std::runtime_error(candidate + " is not built (" + entry.module.string() +
                             " is missing): run cmake --build first");
  }
  Json build = read_json(entry.build_json);
  if (std::filesystem::is_regular_file(entry.source) &&
      build.at("source_sha256") != file_sha256(entry.source)) {
    // A file that was moved, copied or unpacked may be older than its object: without that one the
    // next build compiles it.
    std::filesystem::path object = entry.build_json;  // <object>.build.json
    std::filesystem::remove(object.replace_extension().replace_extension());
    throw std::runtime_error(entry.source.string() +
                             " has changed since it was built: run cmake --build first");
  }
  file.begin();
  try {
    judge_compilation(build);
    judge_module(entry);
  } catch (const Decided& decided) {
    build.erase("command");
    file.json()["build"] = build;
    file.save("build", to_string(decided.verdict), decided.what());
    std::printf("%s: %s: %s\n%s", candidate.c_str(), to_string(decided.verdict),
                file.json().at("evidence").get<std::string>().c_str(),
                marked_lines(build.at("diagnostics").get<std::string>()).c_str());
    return decided.verdict == Verdict::skipped ? exit_skipped : 1;
  }
  build.erase("command");
  file.json()["build"] = build;
  file.save("build", nullptr, "compiled; not judged yet");
  std::printf("%s: compiled in %.1f s\n", candidate.c_str(), build.at("seconds").get<double>());
  return 0;
}

}  // namespace
}  // namespace kb

int main(int argc, char** argv) {
  CLI::App app("Checks how a candidate was built and starts its result file");
  std::string manifest, candidate;
  app.add_option("--manifest", manifest, "manifest.json of the build tree")->required();
  app.add_option("--candidate", candidate, "name of the candidate")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    return kb::check(manifest, candidate);
  } catch (const std::exception& error) {
    std::cerr << "kb_check_build: " << error.what() << "\n";
    return 2;
  }
}
