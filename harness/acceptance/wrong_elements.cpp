// Looks at one dimension at a time: a forgotten remainder of a tile leaves a mark along it.
#include "acceptance/wrong_elements.h"

#include <algorithm>

namespace kb {
namespace {

// Outputs beyond this are only counted: patterns are looked for on the host.
constexpr int64_t most_elements = int64_t{1} << 28;

std::string number(int64_t value) { return std::to_string(value); }

// "only index 6", "only from index 128 on" and the like, or "".
// @param hit  the indices along one dimension where any element is wrong, ascending
std::string describe(const std::vector<int64_t>& hit, int64_t extent) {
  const int64_t first = hit.front(), last = hit.back();
  const auto count = static_cast<int64_t>(hit.size());
  if (count == extent) return "";
  if (count == 1) {
    return first == extent - 1 ? "only the last index, " + number(first) + ","
                               : "only index " + number(first);
  }
  if (last - first + 1 == count) {
    if (last == extent - 1) return "only from index " + number(first) + " on";
    if (first == 0) return "only below index " + number(last + 1);
    return "only indices " + number(first) + " to " + number(last);
  }
  const int64_t step = hit[1] - first;
  for (size_t i = 2; i < hit.size(); ++i) {
    if (hit[i] - hit[i - 1] != step) return "";
  }
  if (count < 3) return "";
  return "only indices " + number(first) + ", " + number(hit[1]) + " and so on, in steps of " +
         number(step) + ",";
}

std::vector<int64_t> hit_indices(const at::Tensor& wrong, int64_t dim) {
  const at::Tensor any =
      wrong.dim() == 1 ? wrong : wrong.transpose(0, dim).reshape({wrong.size(dim), -1}).any(1);
  const at::Tensor indices = any.nonzero().view(-1).contiguous();
  const int64_t* data = indices.const_data_ptr<int64_t>();
  return {data, data + indices.numel()};
}

// The first `count` places that are set; there are as many.
std::vector<int64_t> first_places(const at::Tensor& wrong, int64_t count) {
  constexpr int64_t piece = int64_t{1} << 20;
  std::vector<int64_t> places;
  for (int64_t start = 0; std::ssize(places) < count; start += piece) {
    const at::Tensor set =
        wrong.narrow(0, start, std::min(piece, wrong.numel() - start)).nonzero().view(-1);
    for (int64_t i = 0; i < set.numel() && std::ssize(places) < count; ++i) {
      places.push_back(start + set[i].item<int64_t>());
    }
  }
  return places;
}

std::string find_where(const Shape& shape, const at::Tensor& wrong, int64_t count, int64_t first) {
  const int64_t numel = wrong.numel();
  if (count == numel) return "all of them";
  if (numel > most_elements) return "";
  std::string where;
  const at::Tensor shaped = wrong.view(shape);
  for (int64_t dim = 0; dim < shaped.dim(); ++dim) {
    const std::string along = describe(hit_indices(shaped, dim), shape[dim]);
    if (along.empty()) continue;
    where += (where.empty() ? "" : " and ") + along + " of dimension " + number(dim);
  }
  if (where.empty() && count == numel - first) {
    where = "all from element " + number(first) + " on, in row-major order";
  }
  return where;
}

}  // namespace

std::vector<int64_t> unravel(int64_t flat, const Shape& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

WrongElements wrong_elements(const Shape& shape, const at::Tensor& wrong,
                             const std::function<WrongElement(int64_t flat)>& value) {
  constexpr int64_t most = 5;
  WrongElements found{.count = wrong.sum().item<int64_t>()};
  if (found.count == 0) return found;
  const std::vector<int64_t> places = first_places(wrong, std::min(most, found.count));
  for (const int64_t flat : places) {
    found.first.push_back(value(flat));
    found.first.back().index = unravel(flat, shape);
  }
  found.where = find_where(shape, wrong, found.count, places.front());
  return found;
}

}  // namespace kb
