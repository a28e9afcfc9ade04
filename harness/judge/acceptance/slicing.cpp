// A slice is a smaller task of the same kind: other sizes, narrower inputs, narrower outputs.
#include "judge/acceptance/slicing.h"

#include <algorithm>
#include <memory>

#include "judge/acceptance/expectation.h"

namespace kb {
namespace {

using Tensors = std::vector<at::Tensor>;

// A task at one set of sizes, cut along an extent.
class Cut {
 public:
  Cut(const Task& task, SizeBytes sizes, Extent extent)
      : task_(task), sizes_(std::move(sizes)), extent_(std::move(extent)) {
    const std::vector<TensorSpec> specs = task.tensors(sizes_);
    for (size_t i = 0; i < specs.size(); ++i) {
      if (specs[i].role == Role::output) {
        outputs_.push_back(specs[i]);
      } else if (specs[i].role != Role::unread) {
        const bool cut = !extent_.dims[i].empty();
        dims_.push_back(cut ? std::optional(extent_.dims[i].front()) : std::nullopt);
        (cut ? cut_bytes_ : whole_bytes_) += specs[i].bytes();
      }
    }
  }

  // At most one dimension of each tensor, the first of every output.
  static bool possible(const Task& task, const SizeBytes& sizes, const Extent& extent) {
    const std::vector<TensorSpec> specs = task.tensors(sizes);
    for (size_t i = 0; i < specs.size(); ++i) {
      const auto& dims = extent.dims[i];
      if (dims.size() > 1) return false;
      if (specs[i].role == Role::output && (dims.empty() || dims.front() != 0)) return false;
    }
    return true;
  }

  int64_t count() const { return extent_.value; }
  const std::vector<TensorSpec>& outputs() const { return outputs_; }
  // fp64 copies of what is not cut, for all slices.
  int64_t whole_bytes() const { return 2 * whole_bytes_; }
  // fp64 copies of inputs, outputs and an intermediate, for each unit of the extent.
  int64_t unit_bytes() const {
    int64_t bytes = 2 * cut_bytes_;
    for (const TensorSpec& spec : outputs_) bytes += 4 * spec.bytes();
    return std::max<int64_t>(bytes / count(), 1);
  }

  // Units [first, first + count) of the given tensors that are cut; the others as they are.
  Tensors given(const Tensors& all, int64_t first, int64_t count) const {
    Tensors slice;
    for (size_t i = 0; i < all.size(); ++i) {
      const auto& dim = dims_[i];
      if (!dim) {
        slice.push_back(all[i]);
        continue;
      }
      const int64_t each = all[i].size(*dim) / extent_.value;
      slice.push_back(all[i].narrow(*dim, first * each, count * each).contiguous());
    }
    return slice;
  }

  Tensors reference(const Tensors& slice, int64_t count) const {
    return task_.reference(with_value(task_, sizes_, extent_, count), slice);
  }

  // `all`, with what is not cut in fp64 once and for all.
  Tensors fixed_in_fp64(Tensors all) const {
    for (size_t i = 0; i < all.size(); ++i) {
      if (!dims_[i]) all[i] = in_fp64({all[i]}).front();
    }
    return all;
  }

 private:
  Task task_;
  SizeBytes sizes_;
  Extent extent_;
  std::vector<TensorSpec> outputs_;
  std::vector<std::optional<int64_t>> dims_;  // of inputs and weights
  int64_t cut_bytes_ = 0, whole_bytes_ = 0;
};

// Units of a slice.
int64_t units(const Cut& cut, int64_t slice_bytes) {
  return std::clamp<int64_t>(slice_bytes / cut.unit_bytes(), 1, cut.count());
}

// The slice that was computed last, and how to get the others. Reading in order computes each once.
class Slices {
 public:
  Slices(Cut cut, const Tensors& given, int64_t units)
      : cut_(std::move(cut)), given_(cut_.fixed_in_fp64(given)), units_(units) {}

  at::Tensor range(size_t output, int64_t first, int64_t count) {
    const int64_t each = cut_.outputs()[output].numel() / cut_.count();
    Tensors parts;
    for (int64_t at = first; at < first + count;) {
      const int64_t slice = at / each / units_;
      const int64_t begin = slice * units_ * each;
      const at::Tensor values = compute(slice).at(output).reshape(-1);
      const int64_t stop = std::min(first + count, begin + values.numel());
      parts.push_back(values.narrow(0, at - begin, stop - at));
      at = stop;
    }
    return parts.size() == 1 ? parts.front() : at::cat(parts);
  }

 private:
  const Tensors& compute(int64_t slice) {
    if (slice != current_) {
      values_.clear();
      const int64_t first = slice * units_, count = std::min(units_, cut_.count() - first);
      values_ = cut_.reference(in_fp64(cut_.given(given_, first, count)), count);
      current_ = slice;
    }
    return values_;
  }

  Cut cut_;
  Tensors given_;
  int64_t units_, current_ = -1;
  Tensors values_;
};

std::optional<Extent> extent_of(const Task& task, const SizeBytes& sizes, const std::string& field,
                                size_t element) {
  for (Extent& extent : extents(task, sizes)) {
    if (extent.field == field && extent.element == element) return std::move(extent);
  }
  return std::nullopt;
}

bool same(const at::Tensor& a, const at::Tensor& b) {
  if (!at::isFloatingType(b.scalar_type())) return at::equal(a, b);
  constexpr double rounding = 1e-11;
  const double scale = at::nan_to_num(b, 0.0, 0.0, 0.0).abs().max().item<double>();
  return at::allclose(a, b, 0, rounding * scale, /*equal_nan=*/true);
}

// One unit alone and the rest in two parts, against the whole.
bool independent(const Task& task, const SizeBytes& sizes, const Extent& extent) {
  const Tensors given = in_fp64(task.example(sizes));
  const Cut cut(task, sizes, extent);
  const Tensors whole = task.reference(sizes, given);
  const int64_t middle = (1 + cut.count()) / 2;
  for (const auto& [begin, end] :
       {std::pair<int64_t, int64_t>{0, 1}, {1, middle}, {middle, cut.count()}}) {
    if (begin == end) continue;
    const Tensors part = cut.reference(cut.given(given, begin, end - begin), end - begin);
    for (size_t i = 0; i < whole.size(); ++i) {
      const int64_t each = whole[i].size(0) / cut.count();
      if (!same(part.at(i), whole[i].narrow(0, begin * each, (end - begin) * each))) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<Slicing> Slicing::find(const Task& task) {
  for (const Extent& extent : extents(task, task.full)) {
    bool found = Cut::possible(task, task.full, extent);
    for (const SizeBytes* sizes : {&task.smoke, &task.odd}) {
      if (!found) break;
      // Of one nothing can be learnt.
      const SizeBytes several = with_value(task, *sizes, extent, 3);
      const auto small = extent_of(task, several, extent.field, extent.element);
      const bool alone = accepts(task, with_value(task, *sizes, extent, 1));
      found = alone && small && independent(task, several, *small);
    }
    if (found) return Slicing(extent.field, extent.element);
  }
  return std::nullopt;
}

Extent Slicing::extent(const Task& task, const SizeBytes& sizes) const {
  auto extent = extent_of(task, sizes, field_, element_);
  TORCH_CHECK(extent && Cut::possible(task, sizes, *extent), task.name, " cannot be sliced along ",
              field_);
  return *std::move(extent);
}

std::vector<Oracle> Slicing::oracle(const Task& task, const SizeBytes& sizes,
                                    const std::vector<at::Tensor>& given) const {
  const Cut cut(task, sizes, extent(task, sizes));
  const auto slices = std::make_shared<Slices>(cut, given, units(cut, slice_bytes_));
  std::vector<Oracle> oracle;
  for (size_t i = 0; i < cut.outputs().size(); ++i) {
    oracle.emplace_back(cut.outputs()[i].numel(), [slices, i](int64_t first, int64_t count) {
      return slices->range(i, first, count);
    });
  }
  return oracle;
}

std::vector<Slicing::Units> Slicing::pieces(const Task& task, const SizeBytes& sizes) const {
  const Cut cut(task, sizes, extent(task, sizes));
  const int64_t each = units(cut, slice_bytes_);
  std::vector<Units> pieces;
  for (int64_t first = 0; first < cut.count(); first += each) {
    pieces.push_back({first, std::min(each, cut.count() - first), cut.count()});
  }
  return pieces;
}

Slicing::Piece Slicing::piece(const Task& task, const SizeBytes& sizes,
                              const std::vector<at::Tensor>& given, const Units& units) const {
  const Extent whole = extent(task, sizes);
  const Cut cut(task, sizes, whole);
  return {units, with_value(task, sizes, whole, units.count),
          cut.given(given, units.first, units.count)};
}

int64_t Slicing::bytes(const Task& task, const SizeBytes& sizes) const {
  const Cut cut(task, sizes, extent(task, sizes));
  return cut.whole_bytes() + std::max(slice_bytes_, cut.unit_bytes());
}

}  // namespace kb
