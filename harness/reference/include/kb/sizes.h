// A task's Sizes as bytes and as named fields, for tools that do not know the struct.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace kb {

/// One set of values of a task's Sizes: what launch() receives, byte for byte.
using SizeBytes = std::vector<unsigned char>;

/// One field of a Sizes struct, wherever it lies in its bytes.
struct SizeField {
  enum class Kind { integer, real, flag };
  std::string name;
  Kind kind;
  size_t offset;
  size_t count;   ///< of values
  bool is_array;  ///< which one value may be, too
};

/// Named access to the fields of a Sizes struct that is only known as bytes.
struct SizeFields {
  std::vector<SizeField> fields;

  /// All fields as {"name": number | [numbers]}, in declaration order.
  nlohmann::ordered_json to_json(const SizeBytes& sizes) const;
  /// Sets field `name` from text such as `96`, `0.5`, `true` or `3,5`.
  /// @throws std::invalid_argument naming the field and what it takes.
  void set(SizeBytes& sizes, const std::string& name, const std::string& text) const;
};

namespace detail {

std::vector<std::string> split_names(const char* comma_separated);

template <class T>
struct FieldType;
template <>
struct FieldType<int64_t> {
  static constexpr SizeField::Kind kind = SizeField::Kind::integer;
};
template <>
struct FieldType<double> {
  static constexpr SizeField::Kind kind = SizeField::Kind::real;
};
template <>
struct FieldType<bool> {
  static constexpr SizeField::Kind kind = SizeField::Kind::flag;
};
template <class T, size_t N>
struct FieldType<std::array<T, N>> : FieldType<T> {
  static constexpr size_t count = N;
};

template <class T>
SizeField field_of(const std::string& name, size_t offset) {
  if constexpr (requires { FieldType<T>::count; }) {
    return {name, FieldType<T>::kind, offset, FieldType<T>::count, true};
  } else {
    return {name, FieldType<T>::kind, offset, 1, false};
  }
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
  const std::vector<std::string> names = detail::split_names(Sizes::kb_names());
  SizeFields all;
  Sizes sizes;
  const auto* start = reinterpret_cast<const unsigned char*>(&sizes);
  const auto add = [&](const auto& field) {
    const auto* place = reinterpret_cast<const unsigned char*>(&field);
    using Type = std::decay_t<decltype(field)>;
    all.fields.push_back(detail::field_of<Type>(names.at(all.fields.size()), place - start));
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, sizes.kb_values());
  return all;
}

}  // namespace kb
