// Looks at one dimension at a time: a forgotten remainder of a tile leaves a mark along it.
#include "judge/acceptance/wrong_elements.h"

#include <algorithm>

#include "judge/acceptance/slices.h"

namespace kb {
namespace {

// Places of wrong elements are made as int64: so many elements at a time, and so many indices of a
// dimension are looked at for a pattern.
constexpr int64_t piece_elements = int64_t{1} << 22;

std::string number(int64_t value) { return std::to_string(value); }

// "only index 6", "only from index 128 on" and the like, or "".
// @param hit  bool for each index along one dimension: whether any element is wrong there
std::string describe(const at::Tensor& hit) {
  const int64_t extent = hit.numel();
  const at::Tensor indices = hit.nonzero().view(-1);
  const int64_t count = indices.numel();
  if (count == extent) return "";
  const auto first = indices[0].item<int64_t>(), last = indices[-1].item<int64_t>();
  if (count == 1) {
    return first == extent - 1 ? "only the last index, " + number(first) + ","
                               : "only index " + number(first);
  }
  if (last - first + 1 == count) {
    if (last == extent - 1) return "only from index " + number(first) + " on";
    if (first == 0) return "only below index " + number(last + 1);
    return "only indices " + number(first) + " to " + number(last);
  }
  const auto second = indices[1].item<int64_t>();
  const bool even = indices.diff().eq(second - first).all().item<bool>();
  if (count < 3 || !even) return "";
  return "only indices " + number(first) + ", " + number(second) + " and so on, in steps of " +
         number(second - first) + ",";
}

// What is seen of wrong elements while one piece after another is looked at.
class Survey {
 public:
  explicit Survey(const Shape& shape) : shape_(shape), hit_(shape.size()) {}

  // @param places  of wrong elements, ascending, later than all before; there is at least one
  void add(const at::Tensor& places) {
    for (int64_t i = 0; i < places.numel() && std::ssize(first_) < most; ++i) {
      first_.push_back(places[i].item<int64_t>());
    }
    count_ += places.numel();
    int64_t stride = 1;
    for (size_t d = shape_.size(); d-- > 0; stride *= shape_[d]) {
      if (shape_[d] > piece_elements) continue;
      if (!hit_[d].defined()) hit_[d] = at::zeros({shape_[d]}, places.options().dtype(at::kBool));
      hit_[d].index_fill_(0, places.div(stride, "floor").remainder(shape_[d]), true);
    }
  }

  int64_t count() const { return count_; }
  const std::vector<int64_t>& first() const { return first_; }

  std::string where(int64_t numel) const {
    if (count_ == numel) return "all of them";
    std::string where;
    for (size_t d = 0; d < hit_.size(); ++d) {
      const std::string along = hit_[d].defined() ? describe(hit_[d]) : "";
      if (along.empty()) continue;
      where += (where.empty() ? "" : " and ") + along + " of dimension " + std::to_string(d);
    }
    if (where.empty() && count_ == numel - first_[0]) {
      where = "all from element " + number(first_[0]) + " on, in row-major order";
    }
    return where;
  }

 private:
  static constexpr int64_t most = 5;

  Shape shape_;
  int64_t count_ = 0;
  std::vector<int64_t> first_;
  std::vector<at::Tensor> hit_;  ///< per dimension, of those that are not too long
};

}  // namespace

std::vector<int64_t> unravel(int64_t flat, const Shape& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

WrongElements wrong_elements(const Shape& shape, const WrongMarks& wrong,
                             const std::function<WrongElement(int64_t flat)>& value) {
  const int64_t numel = c10::multiply_integers(shape);
  Survey survey(shape);
  for_slices(numel, [&](int64_t first, int64_t count) {
    const at::Tensor marks = wrong(first, count);
    if (!marks.any().item<bool>()) return;
    for_slices(
        count,
        [&](int64_t from, int64_t some) {
          const at::Tensor places = marks.narrow(0, from, some).nonzero().view(-1);
          if (places.numel() > 0) survey.add(places + (first + from));
        },
        piece_elements);
  });
  WrongElements found{.count = survey.count()};
  if (found.count == 0) return found;
  for (const int64_t flat : survey.first()) {
    found.first.push_back(value(flat));
    found.first.back().index = unravel(flat, shape);
  }
  found.where = survey.where(numel);
  return found;
}

}  // namespace kb
