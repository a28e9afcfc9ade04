// The fallback for kernels without Landlock: looks afterwards instead of preventing.
#include "sandbox/build/source_check.h"

#include <algorithm>

#include "base/files.h"

namespace kb {

namespace fs = std::filesystem;

fs::path real_path(const fs::path& path) {
  std::error_code error;
  const fs::path result = fs::weakly_canonical(path, error);
  return error ? path : result;
}

bool is_below(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first ==
         folder.end();
}

std::vector<std::string> depfile_inputs(std::string_view depfile) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (size_t i = 0; i < depfile.size(); ++i) {
    const char c = depfile[i];
    const char next = i + 1 < depfile.size() ? depfile[i + 1] : '\0';
    if (c == '\\' && (next == '\n' || next == '\r')) {
      end_word();
      i += next == '\r' && i + 2 < depfile.size() && depfile[i + 2] == '\n' ? 2 : 1;
    } else if ((c == '\\' && (next == ' ' || next == '#' || next == '\\')) ||
               (c == '$' && next == '$')) {
      word += next;
      ++i;
    } else if (c == '\n') {
      break;  // rules that follow are the empty ones of -MP
    } else if (c == ' ' || c == '\t' || c == '\r') {
      end_word();
    } else {
      word += c;
    }
  }
  end_word();
  const auto target = std::find_if(words.begin(), words.end(),
                                   [](const std::string& text) { return text.ends_with(':'); });
  if (target != words.end()) words.erase(words.begin(), target + 1);
  return words;
}

bool embeds_files(std::string_view source) {
  std::string squeezed;
  for (const char c : source) {
    if (std::string_view("\"' \t\r\n\\#").find(c) == std::string_view::npos) squeezed += c;
  }
  if (squeezed.find(".incbin") != std::string::npos) return true;
  // #embed, with white space allowed before and after the number sign.
  for (size_t hash = source.find('#'); hash != std::string_view::npos;
       hash = source.find('#', hash + 1)) {
    const size_t word = source.find_first_not_of(" \t\\\r\n", hash + 1);
    if (word != std::string_view::npos && source.substr(word).starts_with("embed")) return true;
  }
  return false;
}

std::optional<std::string> check_source(const CompileCommand& command, const SandboxRules& rules) {
  if (embeds_files(read_text(command.source))) {
    return "candidate embeds a file (.incbin or #embed)";
  }
  if (command.depfile.empty()) return std::nullopt;
  std::vector<fs::path> folders;
  for (const std::string& folder : rules.read_directories) folders.push_back(real_path(folder));
  for (const std::string& folder : rules.write_directories) folders.push_back(real_path(folder));
  std::vector<fs::path> files;
  for (const std::string& file : rules.read_files) files.push_back(real_path(file));
  for (const std::string& input : depfile_inputs(read_text(command.depfile))) {
    const fs::path file = real_path(input);
    const bool allowed = std::find(files.begin(), files.end(), file) != files.end() ||
                         std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
                           return is_below(file, folder);
                         });
    if (!allowed) return "candidate includes " + input + ", which it may not read";
  }
  return std::nullopt;
}

}  // namespace kb
