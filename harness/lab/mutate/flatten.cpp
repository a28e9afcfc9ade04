// Includes are resolved by text alone: the project's own are unconditional and have #pragma once.
#include "lab/mutate/flatten.h"

#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "base/files.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

class Flattener {
 public:
  explicit Flattener(fs::path project) : project_(std::move(project)) {}

  FlatSource run(const fs::path& file) {
    // The same name in every folder, so that the same text compiles to the same code.
    add("#line 2 \"kernel.cu\"", {});
    add("#include <cuda_bf16.h>", {});
    add("#include <cuda_fp16.h>", {});
    include(file);
    return std::move(flat_);
  }

 private:
  void add(const std::string& line, const Origin& origin) {
    flat_.text += line + "\n";
    flat_.origins.push_back(origin);
  }

  // The file below the project that takes the place of this line, if one does.
  std::optional<fs::path> included(const std::string& line, const fs::path& folder) const {
    static const std::regex form(R"(\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
    std::smatch match;
    if (!std::regex_match(line, match, form)) return std::nullopt;
    const fs::path blocks = "harness/blocks/include";
    const bool quoted = match[1] == "\"";
    const fs::path file = ((quoted ? folder : blocks) / match[2].str()).lexically_normal();
    const bool own = file.string().starts_with((blocks / "kb").string()) ||
                     file.parent_path().filename() == "architectures";
    return own && fs::exists(project_ / file) ? std::optional(file) : std::nullopt;
  }

  void include(const fs::path& file) {
    if (!seen_.insert(file.string()).second) return;
    std::istringstream lines(read_text(project_ / file));
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      const Origin origin{file.string(), ++number};
      if (const auto header = included(line, file.parent_path())) {
        include(*header);
      } else if (line != "#pragma once") {
        add(line, origin);
      }
    }
  }

  fs::path project_;
  FlatSource flat_;
  std::set<std::string> seen_;
};

}  // namespace

FlatSource flatten(const fs::path& project, const fs::path& file) {
  return Flattener(project).run(file);
}

}  // namespace kb
