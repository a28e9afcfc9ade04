// Asks Ninja for the commands of a pattern target (harness/cmake/KbSingle.cmake).
#include "judge/single/compiler.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "judge/single/shell_words.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

void replace_all(std::string* text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text->find(from, at)) != std::string::npos; at += to.size()) {
    text->replace(at, from.size(), to);
  }
}

Json read_patterns(const fs::path& build_dir) {
  return read_json(build_dir / "kernel_patterns.json");
}

Json pattern_for(const std::string& library, const std::vector<std::string>& headers,
                 const Json& patterns) {
  const std::set<std::string> wanted(headers.begin(), headers.end());
  std::set<std::string> known;
  for (const Json& entry : patterns.at("candidates")) {
    const auto declared = entry.at("headers").get<std::set<std::string>>();
    if (entry.at("library") == library && declared == wanted) return entry;
    known.insert(declared.begin(), declared.end());
  }
  std::string names;
  for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
  for (const std::string& name : wanted) {
    if (!known.contains(name)) {
      throw std::runtime_error("the headers '" + name + "' are not known: choose from " + names);
    }
  }
  throw std::runtime_error("this build has no library " + library +
                           ": install it, or configure again if it was installed since");
}

}  // namespace

void check_declarations(const std::string& library, const std::vector<std::string>& headers,
                        const fs::path& build_dir) {
  pattern_for(library, headers, read_patterns(build_dir));
}

Commands commands_for(const Kernel& kernel, const fs::path& build_dir, const Ask& ask) {
  const Json patterns = read_patterns(build_dir);
  Commands commands;
  commands.entry = pattern_for(kernel.library, kernel.headers, patterns);
  const fs::path source_dir = patterns.at("source_dir").get<std::string>();
  const std::string module = commands.entry.at("module");
  fs::path object = commands.entry.at("build_json").get<std::string>();  // <object>.build.json
  object.replace_extension().replace_extension();
  const std::string source = source_dir / commands.entry.at("source").get<std::string>();
  const std::string task_dir = source_dir /
                               ("level" + std::to_string(commands.entry.at("level").get<int>())) /
                               commands.entry.at("task").get<std::string>();

  const auto adapted = [&](const std::string& target) {
    const std::string said =
        ask({KB_NINJA, "-C", build_dir.string(), "-t", "commands", "-s", target});
    // Ninja says first which folder it enters.
    const size_t start = said.starts_with("ninja: ") ? said.find('\n') + 1 : 0;
    std::vector<std::string> words = shell_words(std::string_view(said).substr(start));
    for (std::string& word : words) {
      replace_all(&word, source, kernel.source);
      replace_all(&word, object, kernel.object);
      replace_all(&word, task_dir, source_dir / kernel.task);
      if (word == module) word = kernel.module;
    }
    if (std::find(words.begin(), words.end(), kernel.object) == words.end()) {
      throw std::runtime_error("Ninja does not say how kernels are compiled: configure again");
    }
    // What calls the compiler launcher comes first.
    const auto launcher = std::find_if(words.begin(), words.end(), [](const std::string& word) {
      return std::filesystem::path(word).filename() == "kb_cc";
    });
    if (kernel.is_trusted && launcher != words.end()) {
      words.insert(launcher + 1, "--allow-line-directives");
    }
    return words;
  };
  commands.compile = adapted(object);
  commands.link = adapted(module);
  return commands;
}

}  // namespace kb
