// Halves a list of changes until what is refused is left alone.
#include "judge/acceptance/size_search.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "judge/acceptance/expectation.h"
#include "judge/acceptance/operators.h"

namespace kb {
namespace {

using Json = nlohmann::ordered_json;

int64_t elements(const std::vector<TensorSpec>& specs) {
  int64_t sum = 0;
  for (const TensorSpec& spec : specs) sum += spec.numel();
  return sum;
}

std::vector<Place> places(const Task& task, SizeField::Kind kind) {
  std::vector<Place> found;
  for (const SizeField& field : task.fields.fields) {
    if (field.kind != kind) continue;
    for (size_t i = 0; i < field.count; ++i) found.push_back({field.name, i});
  }
  return found;
}

bool has_space(const TensorSpec& spec) {
  return std::all_of(spec.shape.begin(), spec.shape.end(), [](int64_t size) { return size > 0; });
}

// LibTorch takes images without pixels in some types and not in others, and calls their mean
// NaN.
bool holds_in_fp64(const Task& task, const SizeBytes& sizes) {
  try {
    for (const at::Tensor& y : task.reference(sizes, in_fp64(task.example(sizes)))) {
      if (at::isnan(y).any().item<bool>()) return false;
    }
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

}  // namespace

SizeLimits cost(const Task& task, const SizeBytes& sizes) {
  const Operators called = watch_operators([&] { task.reference(sizes, task.example(sizes)); });
  return {elements(task.tensors(sizes)), called.flops};
}

int64_t draw_between(int64_t from, int64_t to, at::Generator& rng) {
  return at::empty({1}, at::kLong).random_(from, to + 1, rng).item<int64_t>();
}

std::vector<Place> integer_places(const Task& task) {
  return places(task, SizeField::Kind::integer);
}

std::vector<Place> real_places(const Task& task) { return places(task, SizeField::Kind::real); }

SizeBytes SizeSearch::apply(const SizeBytes& sizes, const SizeChange& change) const {
  SizeBytes changed = sizes;
  for (const Place& place : change.places) changed = with_text(task_, changed, place, change.value);
  return changed;
}

SizeBytes SizeSearch::apply(SizeBytes sizes, std::span<const SizeChange> changes) const {
  for (const SizeChange& change : changes) sizes = apply(sizes, change);
  return sizes;
}

bool SizeSearch::declares(const SizeBytes& sizes) const {
  try {
    const std::vector<TensorSpec> specs = task_.tensors(sizes);
    // launch() takes one pointer for each weight, unless they are a table.
    if (!task_.weight_table && specs.size() != task_.tensors(task_.smoke).size()) return false;
    return std::all_of(specs.begin(), specs.end(), has_space) &&
           elements(specs) <= limits_.elements;
  } catch (const c10::Error&) {
    return false;
  }
}

bool SizeSearch::accepts(const SizeBytes& sizes) const {
  if (!declares(sizes)) return false;
  bool accepted = false;
  watch_operators([&] { accepted = kb::accepts(task_, sizes); }, limits_.flops);
  return accepted && holds_in_fp64(task_, sizes);
}

SizeBytes SizeSearch::settle(const SizeBytes& sizes, std::span<const SizeChange> changes,
                             const Others& others) const {
  if (changes.empty()) return sizes;
  const SizeBytes all = apply(sizes, changes);
  if (all == sizes || accepts(all)) return all;
  if (changes.size() > 1) {
    const size_t middle = changes.size() / 2;
    return settle(settle(sizes, changes.first(middle), others), changes.subspan(middle), others);
  }
  for (const std::vector<SizeChange>& other : others(sizes, changes.front())) {
    const SizeBytes changed = apply(sizes, other);
    if (accepts(changed)) return changed;
  }
  return sizes;
}

}  // namespace kb
