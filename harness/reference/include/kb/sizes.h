// A task's Sizes as bytes and as named fields, for tools that do not know the struct.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace kb {

/// One set of values of a task's Sizes: what launch() receives, byte for byte.
using SizeBytes = std::vector<unsigned char>;

/// Named access to the fields of a Sizes struct that is only known as bytes.
struct SizeFields {
  std::vector<std::string> names;
  /// All fields as {"name": number | [numbers]}, in declaration order.
  std::function<nlohmann::ordered_json(const SizeBytes&)> to_json;
  /// Sets field `name` from text such as `96`, `0.5`, `true` or `3,5`.
  /// @throws std::invalid_argument naming the field and what it takes.
  std::function<void(SizeBytes&, const std::string& name, const std::string& text)> set;
};

namespace detail {

std::vector<std::string> split_names(const char* comma_separated);
void require_name(const std::vector<std::string>& names, const std::string& name);
void parse_size(const std::string& name, const std::string& text, int64_t& out);
void parse_size(const std::string& name, const std::string& text, double& out);
void parse_size(const std::string& name, const std::string& text, bool& out);
std::vector<std::string> split_values(const std::string& name, const std::string& text,
                                      size_t count);

template <size_t N>
void parse_size(const std::string& name, const std::string& text, std::array<int64_t, N>& out) {
  const std::vector<std::string> parts = split_values(name, text, N);
  for (size_t i = 0; i < N; ++i) parse_size(name, parts[i], out[i]);
}

template <class Fields>
struct FieldBytes;
template <class... T>
struct FieldBytes<std::tuple<T&...>> {
  // Sizes of the fields, laid out as the compiler would lay out a struct of them.
  static constexpr size_t value() {
    size_t end = 0, alignment = 1;
    ((end = (end + alignof(T) - 1) / alignof(T) * alignof(T) + sizeof(T),
      alignment = alignof(T) > alignment ? alignof(T) : alignment),
     ...);
    return (end + alignment - 1) / alignment * alignment;
  }
};

}  // namespace detail

template <class Sizes>
SizeBytes size_bytes(const Sizes& sizes) {
  static_assert(std::is_trivially_copyable_v<Sizes>, "Sizes crosses processes as plain bytes");
  SizeBytes bytes(sizeof(Sizes));
  std::memcpy(bytes.data(), &sizes, sizeof(Sizes));
  return bytes;
}

template <class Sizes>
const Sizes& sizes_from(const SizeBytes& bytes) {
  return *reinterpret_cast<const Sizes*>(bytes.data());
}

template <class Sizes>
SizeFields size_fields() {
  using Fields = decltype(std::declval<Sizes&>().kb_values());
  static_assert(detail::FieldBytes<Fields>::value() == sizeof(Sizes),
                "KB_FIELDS(...) must list every field of Sizes, in order");
  SizeFields fields;
  fields.names = detail::split_names(Sizes::kb_names());
  fields.to_json = [names = fields.names](const SizeBytes& bytes) {
    nlohmann::ordered_json out = nlohmann::ordered_json::object();
    size_t i = 0;
    std::apply([&](const auto&... field) { ((out[names[i++]] = field), ...); },
               sizes_from<Sizes>(bytes).kb_values());
    return out;
  };
  fields.set = [names = fields.names](SizeBytes& bytes, const std::string& name,
                                      const std::string& text) {
    detail::require_name(names, name);
    Sizes sizes = sizes_from<Sizes>(bytes);
    size_t i = 0;
    std::apply(
        [&](auto&... field) {
          ((names[i++] == name ? detail::parse_size(name, text, field) : void()), ...);
        },
        sizes.kb_values());
    std::memcpy(bytes.data(), &sizes, sizeof(Sizes));
  };
  return fields;
}

}  // namespace kb
