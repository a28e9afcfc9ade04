// Found by changing one size at a time and looking at the declared shapes.
#include "judge/acceptance/extents.h"

#include <nlohmann/json.hpp>

#include <optional>

namespace kb {
namespace {

using Json = nlohmann::ordered_json;

// Dimensions of `before` that grew in proportion from `from` to `to`; nothing if any grew
// otherwise.
std::optional<std::vector<int64_t>> grown(const Shape& before, const Shape& after, int64_t from,
                                          int64_t to) {
  if (before.size() != after.size()) return std::nullopt;
  std::vector<int64_t> dims;
  for (size_t d = 0; d < before.size(); ++d) {
    if (before[d] == after[d]) continue;
    if (before[d] % from != 0 || before[d] / from * to != after[d]) return std::nullopt;
    dims.push_back(static_cast<int64_t>(d));
  }
  return dims;
}

// What a task declares at other sizes; nothing if it refuses them.
std::optional<std::vector<TensorSpec>> declared(const Task& task, const SizeBytes& sizes) {
  try {
    return task.tensors(sizes);
  } catch (const c10::Error&) {
    return std::nullopt;
  }
}

// Fills extent.dims. @return false if it is no extent
bool examine(const Task& task, const SizeBytes& sizes, Extent& extent) {
  const std::vector<TensorSpec> before = task.tensors(sizes);
  // Rounding down hides in one of two successive values.
  for (const int64_t value : {2 * extent.value, extent.value + 1}) {
    const auto after = declared(task, with_value(task, sizes, extent, value));
    if (!after) return false;
    extent.dims.clear();
    bool reaches_input = false;
    for (size_t i = 0; i < before.size(); ++i) {
      const auto dims = grown(before[i].shape, after->at(i).shape, extent.value, value);
      if (!dims) return false;
      const bool weight = before[i].role == Role::weight || before[i].role == Role::unread;
      if (weight && !dims->empty()) return false;
      reaches_input |= before[i].role == Role::input && !dims->empty();
      extent.dims.push_back(*dims);
    }
    if (!reaches_input) return false;
  }
  return true;
}

// Whether nothing else has to change with these. Less may be too little for the task; and 1 tells
// nothing, since dimensions of size 1 are broadcast.
bool change_alone(const Task& task, const ExtentGroup& group) {
  SizeBytes less = task.smoke, more = task.smoke;
  bool halves = true;
  for (const Extent& extent : group) {
    const int64_t value = value_at(task, task.smoke, extent);
    less = with_value(task, less, extent, value / 2);
    more = with_value(task, more, extent, value + 1);
    halves &= value > 3;
  }
  return (halves && accepts(task, less)) || accepts(task, more);
}

}  // namespace

std::vector<Extent> extents(const Task& task, const SizeBytes& sizes) {
  std::vector<Extent> found;
  const Json fields = task.fields.to_json(sizes);
  for (const auto& [name, value] : fields.items()) {
    const Json elements = value.is_array() ? value : Json::array({value});
    for (size_t i = 0; i < elements.size(); ++i) {
      if (!elements[i].is_number_integer() || elements[i] < 1) continue;
      Extent extent{{name, i}, elements[i]};
      if (examine(task, sizes, extent)) found.push_back(std::move(extent));
    }
  }
  return found;
}

std::vector<ExtentGroup> extent_groups(const Task& task, const SizeBytes& sizes) {
  std::vector<ExtentGroup> found;
  const std::vector<Extent> all = extents(task, sizes);
  for (const Extent& extent : all) {
    ExtentGroup together;
    for (const Extent& other : all) {
      if (other.value == extent.value) together.push_back(other);
    }
    if (change_alone(task, {extent})) {
      found.push_back({extent});
    } else if (Place(extent) == Place(together.front()) && change_alone(task, together)) {
      found.push_back(std::move(together));
    }
  }
  return found;
}

int64_t value_at(const Task& task, const SizeBytes& sizes, const Place& place) {
  const Json field = task.fields.to_json(sizes)[place.field];
  return field.is_array() ? field[place.element] : field;
}

SizeBytes with_value(const Task& task, const SizeBytes& sizes, const Place& place, int64_t value) {
  return with_text(task, sizes, place, std::to_string(value));
}

SizeBytes with_text(const Task& task, const SizeBytes& sizes, const Place& place,
                    const std::string& value) {
  const Json field = task.fields.to_json(sizes)[place.field];
  std::string text = value;
  if (field.is_array()) {
    text.clear();
    for (size_t i = 0; i < field.size(); ++i) {
      text += (i == 0 ? "" : ",") + (i == place.element ? value : field[i].dump());
    }
  }
  SizeBytes changed = sizes;
  task.fields.set(changed, place.field, text);
  return changed;
}

bool accepts(const Task& task, const SizeBytes& sizes) {
  const auto specs = declared(task, sizes);
  if (!specs) return false;
  std::vector<Shape> promised, returned;
  for (const TensorSpec& spec : *specs) {
    if (spec.role == Role::output) promised.push_back(spec.shape);
  }
  try {
    for (const at::Tensor& y : task.reference(sizes, task.example(sizes)))
      returned.push_back(y.sizes().vec());
  } catch (const std::exception&) {  // ATen's, or of a library that it calls
    return false;
  }
  return returned == promised;
}

}  // namespace kb
