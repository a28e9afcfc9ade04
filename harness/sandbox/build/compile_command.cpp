// Reads g++, clang++ and nvcc command lines just far enough to find the files they touch.
#include "sandbox/build/compile_command.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

namespace kb {
namespace {

// Further words that take the next word as their value, which is not to be mistaken for the source.
constexpr std::array<std::string_view, 23> options_with_value = {"-x",
                                                                 "-I",
                                                                 "-D",
                                                                 "-U",
                                                                 "-L",
                                                                 "-l",
                                                                 "-isystem",
                                                                 "-iquote",
                                                                 "-idirafter",
                                                                 "-imacros",
                                                                 "-ccbin",
                                                                 "-Xcompiler",
                                                                 "-Xptxas",
                                                                 "-Xcudafe",
                                                                 "-Xlinker",
                                                                 "-gencode",
                                                                 "-arch",
                                                                 "-code",
                                                                 "-std",
                                                                 "-cudart",
                                                                 "-target",
                                                                 "-Xpreprocessor",
                                                                 "-diag-suppress"};

// Wrappers that run the next word as the compiler.
constexpr std::array<std::string_view, 4> wrappers = {"cu2cpp", "ccache", "sccache", "distcc"};

template <class Array>
bool contains(const Array& array, std::string_view word) {
  return std::find(array.begin(), array.end(), word) != array.end();
}

bool is_source_name(std::string_view word) {
  const size_t dot = word.rfind('.');
  if (word.starts_with('-') || dot == std::string_view::npos) return false;
  constexpr std::array<std::string_view, 6> suffixes = {".cu", ".cpp", ".cxx", ".cc", ".C", ".c"};
  return contains(suffixes, word.substr(dot));
}

// The value of `option`, given attached (-MFfile, --option=value) or as the next word.
bool take_value(const std::vector<std::string>& words, size_t* i, std::string_view option,
                std::string* value) {
  const std::string_view word = words[*i];
  if (!word.starts_with(option)) return false;
  std::string_view attached = word.substr(option.size());
  if (attached.empty()) {
    if (*i + 1 >= words.size()) return false;
    *value = words[++*i];
    return true;
  }
  if (option.starts_with("--")) {
    if (!attached.starts_with('=')) return false;
    attached.remove_prefix(1);
  }
  *value = attached;
  return true;
}

}  // namespace

std::string base_name(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

bool CompileCommand::uses_cu2cpp() const {
  return !words.empty() && base_name(words.front()) == "cu2cpp";
}

std::vector<std::string> CompileCommand::programs() const {
  std::vector<std::string> result;
  for (const std::string& word : words) {
    result.push_back(word);
    if (!contains(wrappers, base_name(word))) break;
  }
  for (size_t i = result.size(); i < words.size(); ++i) {
    std::string host_compiler;
    if (take_value(words, &i, "-ccbin", &host_compiler)) {
      if (host_compiler.starts_with('=')) host_compiler.erase(0, 1);
      result.push_back(host_compiler);
    } else if (take_value(words, &i, "--compiler-bindir", &host_compiler)) {
      result.push_back(host_compiler);
    }
  }
  return result;
}

std::string CompileCommand::compiler_name() const {
  std::string name;
  for (const std::string& word : words) {
    if (!name.empty()) name += ' ';
    name += base_name(word);
    if (!contains(wrappers, base_name(word))) break;
  }
  return name;
}

CompileCommand parse_compile_command(std::vector<std::string> words) {
  CompileCommand command;
  std::string file_after_c;
  std::string last_source_name;
  const size_t first = std::count_if(words.begin(), words.end(), [](const std::string& word) {
    return contains(wrappers, base_name(word));
  });
  for (size_t i = first + 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    std::string value;
    if (take_value(words, &i, "-MF", &value) ||
        take_value(words, &i, "--dependency-output", &value)) {
      command.depfile = value;
    } else if (take_value(words, &i, "-MT", &value) || take_value(words, &i, "-MQ", &value)) {
      command.depfile_target = value;
    } else if (word == "-include" || word == "--pre-include" || word == "--options-file" ||
               word == "-optf") {
      if (i + 1 < words.size()) command.read_files.push_back(words[++i]);
    } else if (word.starts_with('@')) {
      command.read_files.push_back(word.substr(1));
    } else if (word == "-o" || word == "--output-file") {
      if (i + 1 < words.size()) command.object = words[++i];
    } else if (word == "-c" || word == "--compile") {
      if (i + 1 < words.size() && !words[i + 1].starts_with('-')) file_after_c = words[++i];
    } else if (contains(options_with_value, word)) {
      ++i;
    } else if (is_source_name(word)) {
      last_source_name = word;
    }
  }
  command.source = file_after_c.empty() ? last_source_name : file_after_c;
  command.words = std::move(words);
  if (command.words.empty()) throw std::runtime_error("no compiler command after --");
  if (command.source.empty()) throw std::runtime_error("the command names no source (-c SOURCE)");
  if (command.object.empty()) throw std::runtime_error("the command names no object (-o OBJECT)");
  return command;
}

}  // namespace kb
