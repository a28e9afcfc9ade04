// First all sizes are made small, then one at a time long.
#include "judge/acceptance/long_sizes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "judge/acceptance/drawn_sizes.h"
#include "judge/acceptance/size_search.h"

namespace kb {
namespace {

// Whether dimension `d` of a tensor is proportional to a size, by two other values of it.
class Proportional {
 public:
  Proportional(const Task& task, const Place& place) {
    const int64_t value = value_at(task, task.smoke, place);
    if (value < 1) return;
    before_ = task.tensors(task.smoke);
    from_ = value;
    // A size that must be a multiple of another one still doubles.
    for (const int64_t to : {2 * value, value + 1}) {
      try {
        after_.emplace_back(to, task.tensors(with_value(task, task.smoke, place, to)));
      } catch (const c10::Error&) {
      }
    }
  }

  // Whether elements of this size lie side by side: one block of threads may read them all.
  bool is_innermost() const {
    for (size_t i = 0; i < before_.size(); ++i) {
      const bool given = before_[i].role == Role::input || before_[i].role == Role::output;
      const size_t dims = before_[i].shape.size();
      if (given && dims > 0 && grows(i, dims - 1)) return true;
    }
    return false;
  }

  // Whether it is the first dimension of all that is read and written, but for weights, and no
  // other: as many as there are samples.
  bool counts_samples() const {
    for (size_t i = 0; i < before_.size(); ++i) {
      const bool given = before_[i].role == Role::input || before_[i].role == Role::output;
      for (size_t d = 0; d < before_[i].shape.size(); ++d) {
        if (grows(i, d) != (given && d == 0)) return false;
      }
      if (given && before_[i].shape.empty()) return false;
    }
    return true;
  }

  // Features are the first dimensions of weights, the others are those of a kernel.
  bool is_row() const {
    constexpr size_t features = 2;
    for (size_t i = 0; i < before_.size(); ++i) {
      const size_t dims = before_[i].shape.size();
      const bool weight = before_[i].role == Role::weight;
      for (size_t d = 0; d < (weight ? std::min(features, dims) : dims); ++d) {
        if (before_[i].role != Role::unread && grows(i, d)) return true;
      }
    }
    return false;
  }

 private:
  bool grows(size_t i, size_t d) const {
    const int64_t old = before_[i].shape[d];
    for (const auto& [to, specs] : after_) {
      if (specs.size() != before_.size() || specs[i].shape.size() != before_[i].shape.size())
        return false;
      if (old % from_ != 0 || specs[i].shape[d] != old / from_ * to) return false;
    }
    return !after_.empty();
  }

  int64_t from_ = 0;
  std::vector<TensorSpec> before_;
  std::vector<std::pair<int64_t, std::vector<TensorSpec>>> after_;
};

std::string name_of(const Task& task, const std::vector<Place>& places) {
  std::string text;
  for (const Place& place : places) {
    const bool array = task.fields.to_json(task.smoke)[place.field].is_array();
    text += (text.empty() ? "" : ", ") + place.field +
            (array ? "[" + std::to_string(place.element) + "]" : "");
  }
  return text;
}

bool contains(const std::vector<Place>& places, const Place& place) {
  return std::find(places.begin(), places.end(), place) != places.end();
}

// What row_sizes() are among: samples, too.
std::vector<std::vector<Place>> counting_sizes(const Task& task) {
  std::vector<std::vector<Place>> found;
  std::vector<Place> seen;
  for (const ExtentGroup& group : extent_groups(task, task.smoke)) {
    found.emplace_back(group.begin(), group.end());
    seen.insert(seen.end(), group.begin(), group.end());
  }
  for (const Place& place : integer_places(task)) {
    if (!contains(seen, place) && Proportional(task, place).is_row()) found.push_back({place});
  }
  return found;
}

class LongDrawing {
 public:
  LongDrawing(const Task& task, at::Generator& rng)
      : task_(task), rng_(rng), rows_(row_sizes(task)), search_(task, limits(task)) {}

  std::vector<LongSizes> run() {
    const SizeBytes few = smaller(2, 3), least = smaller(1, 1);
    for (size_t i = rows_.size(); i > 1; --i) std::swap(rows_[i - 1], rows_[between(0, i - 1)]);
    bool longer = false;
    std::vector<LongSizes> found;
    for (const std::vector<Place>& places : rows_) {
      // Sums of few terms say more than those of one. But a thousand channels may have a block of
      // threads each, in each sample, and that takes seconds on the CPU.
      const bool innermost = Proportional(task_, places.front()).is_innermost();
      std::vector<SizeBytes> others{few, least, task_.smoke};
      if (!innermost) std::swap(others[0], others[1]);
      std::optional<SizeBytes> sizes;
      if (innermost && !longer) sizes = with_row(others, places, longer_row);
      longer |= sizes.has_value();
      if (!sizes) sizes = with_row(others, places, long_row);
      if (sizes) found.push_back({name_of(task_, places), *sizes});
      if (found.size() == most_long_sizes) break;
    }
    return found;
  }

 private:
  // Some milliseconds on the CPU. Networks take long as they are.
  static SizeLimits limits(const Task& task) {
    constexpr int64_t elements = 1 << 17;
    constexpr double flops = 4e6;  // too few for 1,025 queries of as many keys: seconds
    const SizeLimits smoke = cost(task, task.smoke) * 2;
    if (weights_read(task) >= weights_of_network) return smoke;
    return {std::max(elements, smoke.elements), std::max(flops, smoke.flops)};
  }

  int64_t between(int64_t from, int64_t to) { return draw_between(from, to, rng_); }

  // Of networks nothing shrinks: their layers normalise over it.
  SizeBytes smaller(int64_t least, int64_t most) {
    if (weights_read(task_) >= weights_of_network) return task_.smoke;
    std::vector<SizeChange> changes;
    for (const std::vector<Place>& places : counting_sizes(task_)) {
      if (value_at(task_, task_.smoke, places.front()) > most)
        changes.push_back({places, std::to_string(between(least, most))});
    }
    return search_.settle(task_.smoke, changes, [&](const SizeBytes& sizes, const SizeChange& no) {
      std::vector<std::vector<SizeChange>> larger;
      const int64_t value = value_at(task_, sizes, no.places.front());
      for (int64_t other = most + 1; other < value; other += (other + 3) / 4)
        larger.push_back({{no.places, std::to_string(other)}});
      return larger;
    });
  }

  std::optional<SizeBytes> with_row(const std::vector<SizeBytes>& others,
                                    const std::vector<Place>& places, int64_t least) {
    for (const SizeBytes& other : others) {
      for (const int64_t value : values(other, places, least)) {
        const SizeBytes sizes = search_.apply(other, SizeChange{places, std::to_string(value)});
        if (search_.accepts(sizes)) return sizes;
      }
    }
    return std::nullopt;
  }

  // Any value, and multiples of the other sizes: heads divide features, groups divide channels.
  std::vector<int64_t> values(const SizeBytes& other, const std::vector<Place>& places,
                              int64_t least) {
    constexpr int64_t more = 63;
    const int64_t drawn = least + between(0, more);
    std::vector<int64_t> found{drawn};
    for (const Place& place : integer_places(task_)) {
      const int64_t unit = value_at(task_, other, place);
      if (contains(places, place) || unit < 2 || unit > more) continue;
      const int64_t multiple = (drawn + unit - 1) / unit * unit;
      if (!std::count(found.begin(), found.end(), multiple)) found.push_back(multiple);
    }
    return found;
  }

  const Task& task_;
  at::Generator& rng_;
  std::vector<std::vector<Place>> rows_;
  SizeSearch search_;
};

}  // namespace

std::vector<std::vector<Place>> row_sizes(const Task& task) {
  std::vector<std::vector<Place>> rows = counting_sizes(task);
  std::erase_if(rows, [&](const std::vector<Place>& places) {
    return Proportional(task, places.front()).counts_samples();
  });
  return rows;
}

std::vector<LongSizes> draw_long_sizes(const Task& task, at::Generator& rng) {
  return LongDrawing(task, rng).run();
}

}  // namespace kb
