// Text forms of size fields.
#include "kb/sizes.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>

namespace kb::detail {
namespace {

template <class T>
void parse_number(const std::string& name, const std::string& text, T& out, const char* kind) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  if (error != std::errc() || stop != end) {
    throw std::invalid_argument("size '" + name + "' takes " + kind + ", not '" + text + "'");
  }
}

}  // namespace

std::vector<std::string> split_names(const char* comma_separated) {
  std::vector<std::string> names;
  std::istringstream in(comma_separated);
  for (std::string name; std::getline(in, name, ',');) {
    name.erase(0, name.find_first_not_of(' '));
    names.push_back(name);
  }
  return names;
}

void require_name(const std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  std::string known;
  for (const std::string& n : names) known += " " + n;
  throw std::invalid_argument("no size is named '" + name + "'; the task has:" + known);
}

std::vector<std::string> split_values(const std::string& name, const std::string& text,
                                      size_t count) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  if (parts.size() != count || text.ends_with(',')) {
    throw std::invalid_argument("size '" + name + "' takes " + std::to_string(count) +
                                " integers separated by commas, not '" + text + "'");
  }
  return parts;
}

void parse_size(const std::string& name, const std::string& text, int64_t& out) {
  parse_number(name, text, out, "an integer");
}

void parse_size(const std::string& name, const std::string& text, double& out) {
  parse_number(name, text, out, "a number");
}

void parse_size(const std::string& name, const std::string& text, bool& out) {
  if (text != "true" && text != "false") {
    throw std::invalid_argument("size '" + name + "' takes true or false, not '" + text + "'");
  }
  out = text == "true";
}

}  // namespace kb::detail
