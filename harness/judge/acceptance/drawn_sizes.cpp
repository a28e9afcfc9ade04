// Draws all numbers at once, and others in the place of those that the task refuses.
#include "judge/acceptance/drawn_sizes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "judge/acceptance/extents.h"
#include "judge/acceptance/size_search.h"

namespace kb {
namespace {

// At most so many times the cost of smoke; calls of networks take long as it is.
constexpr int64_t growth = 4, growth_of_networks = 3;
// Strides, paddings and most kernels: each value is a case of its own.
constexpr int64_t small = 3;

class Drawing {
 public:
  Drawing(const Task& task, at::Generator& rng)
      : task_(task),
        rng_(rng),
        network_(weights_read(task) >= weights_of_network),
        extents_(extent_groups(task, task.smoke)),
        integers_(integer_places(task)),
        search_(task, cost(task, task.smoke) * (network_ ? growth_of_networks : growth)) {}

  std::optional<SizeBytes> run() {
    const SizeBytes drawn = search_.settle(
        task_.smoke, changes(), [this](const SizeBytes& sizes, const SizeChange& refused) {
          return others(sizes, refused);
        });
    return drawn == task_.smoke ? std::nullopt : std::optional(drawn);
  }

 private:
  int64_t between(int64_t from, int64_t to) { return draw_between(from, to, rng_); }

  bool is_extent(const Place& place) const {
    for (const ExtentGroup& group : extents_) {
      if (std::find(group.begin(), group.end(), place) != group.end()) return true;
    }
    return false;
  }

  // Whether it is a length of inputs and of no weights.
  bool is_crossed(const Place& place) const {
    const std::vector<TensorSpec> before = task_.tensors(task_.smoke);
    try {
      const std::vector<TensorSpec> after = task_.tensors(
          with_value(task_, task_.smoke, place, 2 * value_at(task_, task_.smoke, place)));
      bool input = false;
      for (size_t i = 0; i < before.size() && before.size() == after.size(); ++i) {
        if (before[i].shape == after[i].shape) continue;
        if (before[i].role == Role::weight) return false;
        input |= before[i].role == Role::input;
      }
      return input;
    } catch (const c10::Error&) {
      return false;
    }
  }

  // Together within the limits if possible: what is drawn later is drawn smaller.
  std::vector<SizeChange> changes() {
    constexpr int attempts = 12;
    std::vector<SizeChange> drawn;
    for (int attempt = 0; attempt < attempts; ++attempt) {
      const int64_t most = network_ || attempt > attempts / 4 ? 2 : growth;
      drawn.clear();
      for (const ExtentGroup& group : extents_) {
        // More samples of a network would leave no room for larger images.
        if (!network_ || between(0, 1) == 0) drawn.push_back(other_extent(group, most));
      }
      for (SizeChange& change : other_parameters()) drawn.push_back(std::move(change));
      if (search_.declares(search_.apply(task_.smoke, drawn))) break;
    }
    return drawn;
  }

  SizeChange other_extent(const ExtentGroup& group, int64_t most) {
    constexpr int one_in = 6;
    const int64_t value = group.front().value;
    const int64_t drawn = new_value(group.front(), [&] {
      const bool least = !network_ && between(1, one_in) == 1;
      return least ? 1 : between(network_ ? value : 1, value * most);
    });
    return {{group.begin(), group.end()}, std::to_string(drawn)};
  }

  // All that is no extent, in any order.
  std::vector<SizeChange> other_parameters() {
    constexpr size_t some = 3;
    std::vector<SizeChange> all;
    for (const Place& place : integers_) {
      if (!is_extent(place)) all.push_back({{place}, other_integer(place)});
    }
    for (const Place& place : real_places(task_)) all.push_back({{place}, other_real(place)});
    for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[between(0, i - 1)]);
    if (network_ && all.size() > some) all.resize(some);
    return all;
  }

  // A value that no published set has, if a few attempts find one. Of values that are not small,
  // what loops that are unrolled by four leave over must be new.
  template <class Draw>
  int64_t new_value(const Place& place, const Draw& draw) {
    constexpr int attempts = 8;
    const auto published = [&](int64_t drawn) {
      for (const SizeBytes* sizes : {&task_.smoke, &task_.odd, &task_.full}) {
        const int64_t value = value_at(task_, *sizes, place);
        if (drawn == value || (drawn > small && value > small && (drawn - value) % 4 == 0))
          return true;
      }
      return false;
    };
    int64_t drawn = draw();
    for (int i = 1; i < attempts && published(drawn); ++i) drawn = draw();
    return drawn;
  }

  std::string other_integer(const Place& place) {
    const auto [least, most] = range(place);
    return std::to_string(new_value(place, [&] { return between(least, most); }));
  }

  // From half to twice the value of smoke. What kernels cross does not shrink: with one window
  // left, strides and paddings would not matter.
  std::pair<int64_t, int64_t> range(const Place& place) const {
    const int64_t value = value_at(task_, task_.smoke, place);
    if (value > small) return {is_crossed(place) ? value : (value + 1) / 2, 2 * value};
    // Tasks divide by others, and 0 would end the process.
    const bool may_be_none = value == 0 || place.field.find("padding") != std::string::npos;
    return {may_be_none ? 0 : 1, value + small};
  }

  // Heads divide features, groups divide channels: any multiple or divisor of another size.
  std::string related_integer(const SizeBytes& sizes, const Place& place) {
    const auto [least, most] = range(place);
    const Place& other = integers_[between(0, static_cast<int64_t>(integers_.size()) - 1)];
    const int64_t unit = value_at(task_, sizes, other);
    std::vector<int64_t> values;
    for (int64_t value = std::max<int64_t>(least, 1); value <= most; ++value) {
      if (unit > 0 && (value % unit == 0 || unit % value == 0)) values.push_back(value);
    }
    if (values.empty()) return std::to_string(between(least, most));
    return std::to_string(values[between(0, static_cast<int64_t>(values.size()) - 1)]);
  }

  std::string other_real(const Place& place) {
    const nlohmann::ordered_json field = task_.fields.to_json(task_.smoke)[place.field];
    const double value = field.is_array() ? field[place.element] : field;
    const double share = at::empty({1}, at::kDouble).uniform_(-1, 1, rng_).item<double>();
    char text[32];
    // Three digits, which people can read.
    std::snprintf(text, sizeof text, "%.3g", value == 0 ? share / 4 : value * std::exp2(share));
    return text;
  }

  std::vector<std::vector<SizeChange>> others(const SizeBytes& sizes, const SizeChange& refused) {
    const Place& place = refused.places.front();
    const int count = network_ ? 2 : 6;
    std::vector<std::vector<SizeChange>> found;
    for (const ExtentGroup& group : extents_) {
      if (!(Place(group.front()) == place)) continue;
      for (int i = 0; i < count; ++i) found.push_back({other_extent(group, 2)});
    }
    if (found.empty() && std::find(integers_.begin(), integers_.end(), place) != integers_.end()) {
      for (int i = 0; i < count; ++i) {
        found.push_back({{{place}, other_integer(place)}});
        found.push_back({{{place}, related_integer(sizes, place)}});
      }
    }
    if (auto pair = with_another(sizes, refused); !pair.empty()) found.push_back(std::move(pair));
    return found;
  }

  // What the task refuses alone, with another integer that makes up for it: a layer normalises over
  // as many elements as a convolution leaves.
  std::vector<SizeChange> with_another(const SizeBytes& sizes, const SizeChange& refused) {
    const SizeBytes changed = search_.apply(sizes, refused);
    if (search_.declares(changed)) return {};
    const Place& first = refused.places.front();
    if (std::find(integers_.begin(), integers_.end(), first) == integers_.end()) return {};
    const int64_t more = value_at(task_, changed, first) - value_at(task_, sizes, first);
    std::vector<Place> places = integers_;
    for (size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[between(0, i - 1)]);
    for (const Place& place : places) {
      if (std::find(refused.places.begin(), refused.places.end(), place) != refused.places.end())
        continue;
      for (const int64_t value : values_beside(place, value_at(task_, sizes, place), more)) {
        const SizeChange another{{place}, std::to_string(value)};
        if (search_.declares(search_.apply(changed, another))) return {refused, another};
      }
    }
    return {};
  }

  // A few values of a network's, whose declaration takes long.
  std::vector<int64_t> values_beside(const Place& place, int64_t value, int64_t more) const {
    constexpr int64_t most = 64, few = 8;
    const auto [least, end] = range(place);
    std::vector<int64_t> values;
    if (network_) {
      for (int64_t near = least; near <= end && near < least + few; ++near) values.push_back(near);
      for (const int64_t other : {value + more, value - more, 2 * value}) {
        if (other > 0) values.push_back(other);
      }
    } else {
      for (int64_t near = 1; near <= most; ++near) values.push_back(near);
    }
    return values;
  }

  const Task& task_;
  at::Generator& rng_;
  bool network_;
  std::vector<ExtentGroup> extents_;
  std::vector<Place> integers_;
  SizeSearch search_;
};

}  // namespace

size_t weights_read(const Task& task) {
  const std::vector<TensorSpec> specs = task.tensors(task.smoke);
  return std::count_if(specs.begin(), specs.end(),
                       [](const TensorSpec& spec) { return spec.role == Role::weight; });
}

std::optional<SizeBytes> draw_sizes(const Task& task, at::Generator& rng) {
  return Drawing(task, rng).run();
}

}  // namespace kb
