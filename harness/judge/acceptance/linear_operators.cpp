// By name, without the underscore of what writes into its argument.
#include "judge/acceptance/linear_operators.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace kb {
namespace {

using Names = std::unordered_set<std::string_view>;

// @param text  separated by spaces
Names names(std::string_view text) {
  Names found;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    found.insert(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

// Linear in all arguments together: what moves values and what adds them.
const Names linear_together = names(
    "_adaptive_avg_pool2d _adaptive_avg_pool3d _reshape_alias _to_copy _unsafe_view add alias "
    "as_strided avg_pool1d avg_pool2d avg_pool3d cat channel_shuffle clone col2im "
    "constant_pad_nd copy cumsum detach diag_embed diagonal expand flip im2col lift_fresh "
    "mean nansum neg permute pixel_shuffle pixel_unshuffle reflection_pad1d reflection_pad2d "
    "reflection_pad3d repeat replication_pad1d replication_pad2d replication_pad3d roll rsub "
    "select slice split split_with_sizes squeeze stack sub sum t trace transpose tril triu "
    "unbind unfold unsafe_split unsqueeze upsample_bicubic2d upsample_bilinear2d "
    "upsample_linear1d upsample_nearest1d upsample_nearest2d upsample_nearest3d "
    "upsample_trilinear3d view");

// Of these, those that compute nothing and may copy.
const Names moving = names("_to_copy cat clone constant_pad_nd copy flip roll repeat stack");

// Linear in the first argument while the others do not vary: factors, divisors, places, masks.
const Names linear_in_first = names("div gather index index_select masked_fill masked_select");

// Linear in any one argument while the others do not vary.
const Names linear_in_one = names("mul mm bmm mv dot");

// A sum of the first argument and a product of the next two.
const Names sums_of_products = names("addmm baddbmm addmv");

std::string_view plain_name(const c10::FunctionSchema& schema) {
  std::string_view name = schema.name();
  constexpr std::string_view prefix = "aten::";
  if (!name.starts_with(prefix)) return "";
  name.remove_prefix(prefix.size());
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

}  // namespace

bool is_linear(const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue> arguments,
               const std::vector<bool>& varies) {
  const std::string_view name = plain_name(schema);
  const auto varying = std::count(varies.begin(), varies.end(), true);
  const auto at = [&](size_t i) { return i < varies.size() && varies[i]; };
  if (linear_together.contains(name)) return true;
  if (linear_in_first.contains(name)) return varying == 1 && at(0);
  if (linear_in_one.contains(name)) return varying == 1;
  if (sums_of_products.contains(name)) return !(at(1) && at(2));
  if (name == "where") return !at(0);  // (condition, self, other)
  if (name == "convolution") return !(at(0) && at(1));
  if (name == "native_batch_norm" || name == "cudnn_batch_norm") {
    constexpr size_t training = 5;  // else the moments are given
    return varying == 1 && at(0) && !arguments[training].toBool();
  }
  return false;
}

bool ignores_values(const c10::FunctionSchema& schema) {
  const std::string_view name = plain_name(schema);
  return name.ends_with("_like") || name.starts_with("new_") || name == "zero";
}

bool only_moves(const c10::FunctionSchema& schema) { return moving.contains(plain_name(schema)); }

bool concatenates(const c10::FunctionSchema& schema) {
  const std::string_view name = plain_name(schema);
  return name == "cat" || name == "stack";
}

}  // namespace kb
