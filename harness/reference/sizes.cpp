// Sizes as JSON and from text, by the places of their fields.
#include "kb/sizes.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace kb {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
T read(const unsigned char* place) {
  T value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

size_t bytes_of(SizeField::Kind kind) {
  return kind == SizeField::Kind::flag ? sizeof(bool) : sizeof(int64_t);
}

Json value_at(SizeField::Kind kind, const unsigned char* place) {
  switch (kind) {
    case SizeField::Kind::integer:
      return read<int64_t>(place);
    case SizeField::Kind::real:
      return read<double>(place);
    case SizeField::Kind::flag:
      return read<bool>(place);
  }
  throw std::logic_error("a size of no kind");
}

template <class T>
void write_number(const std::string& name, const std::string& text, const char* kind,
                  unsigned char* place) {
  T value;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) {
    throw std::invalid_argument("size '" + name + "' takes " + kind + ", not '" + text + "'");
  }
  std::memcpy(place, &value, sizeof value);
}

void write(const SizeField& field, const std::string& text, unsigned char* place) {
  switch (field.kind) {
    case SizeField::Kind::integer:
      return write_number<int64_t>(field.name, text, "an integer", place);
    case SizeField::Kind::real:
      return write_number<double>(field.name, text, "a number", place);
    case SizeField::Kind::flag:
      break;
  }
  if (text != "true" && text != "false") {
    throw std::invalid_argument("size '" + field.name + "' takes true or false, not '" + text +
                                "'");
  }
  const bool value = text == "true";
  std::memcpy(place, &value, sizeof value);
}

std::vector<std::string> split_values(const SizeField& field, const std::string& text) {
  if (!field.is_array) return {text};
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  if (parts.size() != field.count || text.ends_with(',')) {
    throw std::invalid_argument("size '" + field.name + "' takes " + std::to_string(field.count) +
                                " integers separated by commas, not '" + text + "'");
  }
  return parts;
}

}  // namespace

Json SizeFields::to_json(const SizeBytes& sizes) const {
  Json out = Json::object();
  for (const SizeField& field : fields) {
    Json values = Json::array();
    for (size_t i = 0; i < field.count; ++i) {
      values.push_back(
          value_at(field.kind, sizes.data() + field.offset + i * bytes_of(field.kind)));
    }
    out[field.name] = field.is_array ? values : values[0];
  }
  return out;
}

void SizeFields::set(SizeBytes& sizes, const std::string& name, const std::string& text) const {
  std::string known;
  for (const SizeField& field : fields) {
    known += " " + field.name;
    if (field.name != name) continue;
    const std::vector<std::string> parts = split_values(field, text);
    // Nothing is changed unless all of it can be.
    SizeBytes changed = sizes;
    for (size_t i = 0; i < parts.size(); ++i) {
      write(field, parts[i], changed.data() + field.offset + i * bytes_of(field.kind));
    }
    sizes = std::move(changed);
    return;
  }
  throw std::invalid_argument("no size is named '" + name + "'; the task has:" + known);
}

namespace detail {

std::vector<std::string> split_names(const char* comma_separated) {
  std::vector<std::string> names;
  std::istringstream in(comma_separated);
  for (std::string name; std::getline(in, name, ',');) {
    name.erase(0, name.find_first_not_of(' '));
    names.push_back(name);
  }
  return names;
}

}  // namespace detail
}  // namespace kb
