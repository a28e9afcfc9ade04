// Finds undeclared headers by name and by path. The text of diagnostics is a candidate's to choose,
// so it only picks between ways of having failed.
#include "sandbox/build/header_policy.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "sandbox/build/source_check.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

// The folders of -I and -isystem.
std::vector<fs::path> include_folders(const CompileCommand& command) {
  std::vector<fs::path> folders;
  for (size_t i = 1; i < command.words.size(); ++i) {
    const std::string& word = command.words[i];
    const std::string& before = command.words[i - 1];
    if (before == "-I" || before == "-isystem") {
      folders.emplace_back(word);
    } else if (word.starts_with("-I") && word.size() > 2) {
      folders.emplace_back(word.substr(2));
    }
  }
  return folders;
}

// The name below `folder` of `file` as it was included, which may be relative to one of `starts`;
// empty if there is no such file.
std::string name_in(const fs::path& folder, const fs::path& file, std::vector<fs::path> starts) {
  starts.push_back(folder);
  std::error_code ignored;
  for (const fs::path& start : starts) {
    // An absolute file takes the place of what it is appended to.
    const fs::path real = real_path(start / file);
    if (is_below(real, folder) && fs::is_regular_file(real, ignored)) {
      return real.lexically_relative(folder);
    }
  }
  return {};
}

}  // namespace

std::optional<HeaderFolder> parse_header_folder(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos || equals + 1 == text.size()) {
    return std::nullopt;
  }
  return HeaderFolder{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::string_view unopened_file(std::string_view line) {
  constexpr std::string_view start = "error: ";
  const size_t at = line.find(start);
  if (at == std::string_view::npos) return {};
  const std::string_view said = line.substr(at + start.size());
  // clang: 'kb/map.cuh' file not found; cannot open file 'kb/map.cuh': Permission denied
  if (said.starts_with('\'') || said.starts_with("cannot open file '")) {
    const size_t open = said.find('\'') + 1;
    return said.substr(open, said.find('\'', open) - open);
  }
  // g++: kb/map.cuh: No such file or directory
  for (const std::string_view why : {": No such file or directory", ": Permission denied"}) {
    if (said.ends_with(why)) return said.substr(0, said.size() - why.size());
  }
  return {};
}

std::optional<std::string> undeclared_header(const std::vector<HeaderFolder>& undeclared,
                                             const CompileCommand& command,
                                             std::string_view diagnostics) {
  if (undeclared.empty()) return std::nullopt;
  std::vector<std::string> files;
  if (!command.depfile.empty() && fs::exists(command.depfile)) {
    files = depfile_inputs(read_text(command.depfile));
  }
  while (!diagnostics.empty()) {
    const size_t end = std::min(diagnostics.find('\n'), diagnostics.size());
    const std::string_view file = unopened_file(diagnostics.substr(0, end));
    if (!file.empty()) files.emplace_back(file);
    diagnostics.remove_prefix(std::min(end + 1, diagnostics.size()));
  }
  std::vector<fs::path> starts = include_folders(command);
  starts.insert(starts.begin(), {fs::current_path(), fs::path(command.source).parent_path()});
  for (const std::string& file : files) {
    for (const HeaderFolder& headers : undeclared) {
      const std::string name = name_in(real_path(headers.folder), file, starts);
      if (name.empty()) continue;
      return "it includes " + name + ", which belongs to the headers '" + headers.name +
             "' that its run does not declare: add \"headers\": [\"" + headers.name +
             "\"] to the run's run.json";
    }
  }
  return std::nullopt;
}

}  // namespace kb
