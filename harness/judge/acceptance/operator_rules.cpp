// Kinds, numbers of terms and parts of operators.
#include "judge/acceptance/operator_rules.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>

#include "judge/acceptance/precision.h"

namespace kb {
namespace {

using at::IntArrayRef;
using at::Tensor;
using Parts = std::optional<std::vector<c10::IValue>>;

double count(const Tensor& t) { return static_cast<double>(t.numel()); }

// --- how many terms a sum has

double product_of(const std::vector<int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), 1.0, std::multiplies<>());
}

std::optional<std::vector<int64_t>> dimensions(const c10::IValue& value) {
  if (value.isInt()) return std::vector{value.toInt()};
  if (!value.isIntList() || value.toIntVector().empty()) return std::nullopt;
  return value.toIntVector();
}

// sum(x, dims, ...): without dimensions, all of x.
double reduced(Arguments a) {
  const Tensor& x = a[0].toTensor();
  const auto dims = a.size() > 1 ? dimensions(a[1]) : std::nullopt;
  if (!dims) return count(x);
  double terms = 1;
  for (const int64_t d : *dims) terms *= static_cast<double>(x.dim() > 0 ? x.size(d) : 1);
  return terms;
}

// The same elements, those of each sum in a row.
Tensor rows_of_sum(Arguments a) {
  const Tensor& x = a[0].toTensor();
  const auto dims = a.size() > 1 ? dimensions(a[1]) : std::nullopt;
  if (!dims) return x.reshape({1, -1});
  std::vector<int64_t> last(dims->size());
  std::iota(last.begin(), last.end(), -static_cast<int64_t>(dims->size()));
  return at::movedim(x, *dims, last).reshape({-1, static_cast<int64_t>(reduced(a))});
}

Tensor rows_of_mean(Arguments a) { return rows_of_sum(a) / reduced(a); }

// cumsum(x, dim)
double along(Arguments a) { return static_cast<double>(a[0].toTensor().size(a[1].toInt())); }

// avg_pool2d(x, kernel_size, ...)
template <int Dimensions>
double in_window(Arguments a) {
  const std::vector<int64_t> kernel = a[1].toIntVector();
  return kernel.size() == 1 ? std::pow(kernel[0], Dimensions) : product_of(kernel);
}

// adaptive_avg_pool2d(x, output_size)
double in_bin(Arguments a) {
  const Tensor& x = a[0].toTensor();
  const std::vector<int64_t> bins = a[1].toIntVector();
  const auto kept = static_cast<int64_t>(x.dim()) - static_cast<int64_t>(bins.size());
  return count(x) / product_of(x.sizes().slice(0, kept).vec()) / std::max(product_of(bins), 1.0);
}

template <int Terms>
double always(Arguments) {
  return Terms;
}

// mm(a, b), bmm(a, b), mv(a, b), dot(a, b)
double depth(Arguments a) { return static_cast<double>(a[0].toTensor().size(-1)); }

// convolution(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
double in_filter(Arguments a) {
  const Tensor& weight = a[1].toTensor();
  constexpr size_t transposed = 6, groups = 8;
  return a[transposed].toBool()
             ? count(weight) / static_cast<double>(weight.size(1) * a[groups].toInt())
             : count(weight) / static_cast<double>(weight.size(0));
}

// A running product says nothing from where a product of some factors in a row leaves the range of
// floats: a kernel that multiplies these first has infinity or zero there. Such an element is
// another than the one without noise: NaN, or 0 if that is NaN.
Tensor within_floats(Arguments a, const Tensor& products) {
  const Tensor& factors = a[0].toTensor();
  const int64_t dim = a[1].toInt();
  const Tensor logs = at::log2(factors.abs()).masked_fill_(factors.eq(0), 0).cumsum(dim);
  const Tensor least = std::get<0>(logs.cummin(dim)).clamp_max_(0);
  const Tensor most = std::get<0>(logs.cummax(dim)).clamp_min_(0);
  const Tensor left = (logs - least).gt(127).logical_or_((most - logs).gt(125));
  const Tensor another = at::where(products.isnan(), 0.0, at::full_like(products, NAN));
  return at::where(left.cumsum(dim).gt(0), another, products);
}

// --- what operators are made of

Tensor optional_tensor(const c10::IValue& value) {
  return value.isTensor() ? value.toTensor() : Tensor();
}

// For dimension 1 of a tensor with so many.
Tensor per_channel(const Tensor& t, int64_t dimensions) {
  std::vector<int64_t> shape(dimensions, 1);
  shape[std::min<int64_t>(1, dimensions - 1)] = -1;
  return t.view(shape);
}

Tensor scaled(Tensor y, const Tensor& weight, const Tensor& bias) {
  if (weight.defined()) y = y * weight;
  return bias.defined() ? y + bias : y;
}

// A kernel may fold the mean into a summand, so that x is rounded as it is.
Tensor normalised(const Tensor& given, IntArrayRef dims, double eps) {
  const Tensor x = given * 1;
  const Tensor d = x - x.mean(dims, /*keepdim=*/true);
  return d * at::rsqrt((d * d).mean(dims, /*keepdim=*/true) + eps);
}

std::vector<int64_t> from(int64_t first, int64_t end) {
  std::vector<int64_t> dims(end - first);
  std::iota(dims.begin(), dims.end(), first);
  return dims;
}

Parts with_undefined(Tensor y, size_t results) {
  std::vector<c10::IValue> all{std::move(y)};
  while (all.size() < results) all.emplace_back(Tensor());
  return all;
}

// (x, weight, bias, running_mean, running_var, training, momentum, eps)
template <size_t Results>
Parts batch_norm(Arguments a) {
  const Tensor x = a[0].toTensor(), weight = optional_tensor(a[1]), bias = optional_tensor(a[2]);
  const double eps = a[7].toDouble();
  const auto each = [&](const Tensor& t) { return t.defined() ? per_channel(t, x.dim()) : t; };
  Tensor y;
  if (a[5].toBool()) {
    std::vector<int64_t> dims = from(2, x.dim());
    dims.insert(dims.begin(), 0);
    y = normalised(x, dims, eps);
  } else {
    y = (x - each(a[3].toTensor())) * at::rsqrt(each(a[4].toTensor()) + eps);
  }
  return with_undefined(scaled(y, each(weight), each(bias)), Results);
}

// (x, normalized_shape, weight, bias, eps)
Parts layer_norm(Arguments a) {
  const Tensor x = a[0].toTensor();
  const auto last = static_cast<int64_t>(a[1].toIntVector().size());
  const Tensor y = normalised(x, from(x.dim() - last, x.dim()), a[4].toDouble());
  return with_undefined(scaled(y, optional_tensor(a[2]), optional_tensor(a[3])), 3);
}

// (x, weight, bias, N, C, HxW, groups, eps)
Parts group_norm(Arguments a) {
  const Tensor x = a[0].toTensor(), weight = optional_tensor(a[1]), bias = optional_tensor(a[2]);
  const Tensor grouped = x.reshape({x.size(0), a[6].toInt(), -1});
  const Tensor y = normalised(grouped, {2}, a[7].toDouble()).view(x.sizes());
  const auto each = [&](const Tensor& t) { return t.defined() ? per_channel(t, x.dim()) : t; };
  return with_undefined(scaled(y, each(weight), each(bias)), 3);
}

// (x, dim, half_to_float)
Parts softmax(Arguments a) {
  const Tensor x = a[0].toTensor();
  const int64_t dim = a[1].toInt();
  const Tensor e = at::exp(x - x.amax(dim, true));
  return {{e / e.sum(dim, true)}};
}

Tensor log_of_sum(const Tensor& x, IntArrayRef dims) {
  Tensor largest = x.amax(dims, true);
  largest = at::where(at::isinf(largest), at::zeros_like(largest), largest);
  return largest + at::log(at::exp(x - largest).sum(dims, true));
}

// (x, dims, keepdim)
Parts logsumexp(Arguments a) {
  const std::vector<int64_t> dims = dimensions(a[1]).value_or(from(0, a[0].toTensor().dim()));
  const Tensor y = log_of_sum(a[0].toTensor(), dims);
  return {{a[2].toBool() ? y : y.squeeze(dims)}};
}

// (x, dim, half_to_float)
Parts log_softmax(Arguments a) {
  return {{a[0].toTensor() - log_of_sum(a[0].toTensor(), {a[1].toInt()})}};
}

std::vector<int64_t> all_or(const c10::IValue& dims, const Tensor& x) {
  return dimensions(dims).value_or(from(0, x.dim()));
}

// (x, dims, correction, keepdim)
std::pair<Tensor, Tensor> moments(Arguments a) {
  const Tensor x = a[0].toTensor();
  const std::vector<int64_t> dims = all_or(a[1], x);
  const bool keep = a[3].toBool();
  const double correction = a[2].isNone() ? 1 : a[2].toScalar().toDouble();
  const Tensor mean = x.mean(dims, true);
  const Tensor d = x - mean;
  const double terms = reduced(a);
  const Tensor variance = (d * d).sum(dims, keep) / std::max(terms - correction, 0.0);
  return {variance, keep ? mean : mean.squeeze(dims)};
}
Parts variance(Arguments a) { return {{moments(a).first}}; }
Parts deviation(Arguments a) { return {{at::sqrt(moments(a).first)}}; }
Parts variance_and_mean(Arguments a) {
  auto [variance, mean] = moments(a);
  return {{variance, mean}};
}
Parts deviation_and_mean(Arguments a) {
  auto [variance, mean] = moments(a);
  return {{at::sqrt(variance), mean}};
}

// (x, order, dims, keepdim, ...), or (x, order)
Parts vector_norm(Arguments a) {
  const Tensor x = a[0].toTensor();
  const double order = a[1].isNone() ? 2 : a[1].toScalar().toDouble();
  const std::vector<int64_t> dims = a.size() > 2 ? all_or(a[2], x) : from(0, x.dim());
  const bool keep = a.size() > 3 && a[3].isBool() && a[3].toBool();
  if (std::isinf(order)) return std::nullopt;
  if (order == 1) return {{x.abs().sum(dims, keep)}};
  if (order == 2) return {{at::sqrt((x * x).sum(dims, keep))}};
  return {{at::pow(at::pow(x.abs(), order).sum(dims, keep), 1 / order)}};
}

Tensor reduced_loss(const Tensor& losses, const c10::IValue& reduction) {
  switch (reduction.toInt()) {
    case at::Reduction::Mean:
      return losses.mean();
    case at::Reduction::Sum:
      return losses.sum();
    default:
      return losses;
  }
}

// (x, target, reduction)
Parts mse_loss(Arguments a) {
  const Tensor d = a[0].toTensor() - a[1].toTensor();
  return {{reduced_loss(d * d, a[2])}};
}

// A parabola within `beta`, and `scale` times the distance minus half of beta outside.
Tensor huber(Arguments a, double beta, double scale) {
  const Tensor d = (a[0].toTensor() - a[1].toTensor()).abs();
  const Tensor losses =
      at::where(d.lt(beta), d * d * (0.5 * scale / beta), (d - 0.5 * beta) * scale);
  return reduced_loss(losses, a[2]);
}
// (x, target, reduction, beta)
Parts smooth_l1_loss(Arguments a) { return {{huber(a, a[3].toDouble(), 1)}}; }
// (x, target, reduction, delta)
Parts huber_loss(Arguments a) { return {{huber(a, a[3].toDouble(), a[3].toDouble())}}; }

// (x, target, weight, reduction, ignore_index)
Parts nll_loss(Arguments a) {
  const Tensor x = a[0].toTensor(), target = a[1].toTensor();
  if (x.dim() != 2 || a[2].isTensor()) return std::nullopt;
  const Tensor losses = -x.gather(1, target.unsqueeze(1)).squeeze(1);
  return with_undefined(reduced_loss(losses, a[3]), 2);
}

// (beta * self + alpha * a * b, with the product of two tensors)
template <Tensor (*Product)(const Tensor&, const Tensor&)>
Parts product_and_sum(Arguments a) {
  const auto factor = [&](size_t i) { return a[i].toScalar().toDouble(); };
  Tensor y = Product(a[1].toTensor(), a[2].toTensor());
  if (factor(4) != 1) y = y * factor(4);
  if (factor(3) == 0) return {{y}};
  const Tensor self = a[0].toTensor();
  return {{y + (factor(3) == 1 ? self : self * factor(3))}};
}

// With a bias, which is no operand: what rounds operands does not round it.
Parts convolution(Arguments a) {
  const Tensor bias = optional_tensor(a[2]);
  if (!bias.defined()) return std::nullopt;
  const Tensor y =
      at::convolution(a[0].toTensor(), a[1].toTensor(), {}, a[3].toIntVector(), a[4].toIntVector(),
                      a[5].toIntVector(), a[6].toBool(), a[7].toIntVector(), a[8].toInt());
  return {{y + per_channel(bias, y.dim())}};
}

Tensor with_bias(const Tensor& gates, const c10::IValue& bias) {
  return bias.isTensor() ? gates + bias.toTensor() : gates;
}

// (input_gates, hidden_gates, cx, input_bias, hidden_bias)
Parts lstm_cell(Arguments a) {
  const Tensor gates = with_bias(a[0].toTensor(), a[3]) + with_bias(a[1].toTensor(), a[4]);
  const std::vector<Tensor> g = gates.chunk(4, 1);
  const Tensor c = at::sigmoid(g[1]) * a[2].toTensor() + at::sigmoid(g[0]) * at::tanh(g[2]);
  return {{at::sigmoid(g[3]) * at::tanh(c), c, Tensor()}};
}

// (input_gates, hidden_gates, hx, input_bias, hidden_bias)
Parts gru_cell(Arguments a) {
  const std::vector<Tensor> x = with_bias(a[0].toTensor(), a[3]).chunk(3, 1);
  const std::vector<Tensor> h = with_bias(a[1].toTensor(), a[4]).chunk(3, 1);
  const Tensor reset = at::sigmoid(x[0] + h[0]), update = at::sigmoid(x[1] + h[1]);
  const Tensor next = at::tanh(x[2] + reset * h[2]);
  return {{(a[2].toTensor() - next) * update + next, Tensor()}};
}

// --- the table

OperatorRule elementary(double roundings, Besides besides = Besides::nothing) {
  return {.kind = OperatorKind::elementary, .roundings = roundings, .besides = besides};
}
OperatorRule sum(double (*terms)(Arguments)) { return {.kind = OperatorKind::sum, .terms = terms}; }
OperatorRule product(double (*terms)(Arguments)) {
  return {.kind = OperatorKind::product, .terms = terms};
}
OperatorRule made_of(Parts (*parts)(Arguments)) {
  return {.kind = OperatorKind::one_rounding, .parts = parts};
}

using Table = std::unordered_map<std::string_view, OperatorRule>;

// @param names  separated by spaces
void add(Table& table, std::string_view names, const OperatorRule& rule) {
  while (!names.empty()) {
    const size_t end = std::min(names.find(' '), names.size());
    table.emplace(names.substr(0, end), rule);
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

Table make_table() {
  Table table;
  add(table,
      "abs alias amax amin arange argmax argmin as_strided bernoulli bitwise_not "
      "bitwise_xor cat ceil clamp clamp_max clamp_min clone constant_pad_nd copy copysign "
      "_copy_from "
      "detach diag_embed diagonal embedding empty empty_like empty_strided eq expand eye "
      "fill flip floor full full_like gather ge gt hardtanh index index_copy index_put "
      "index_select isinf isnan le lift_fresh linspace _local_scalar_dense logical_and "
      "logical_not lt masked_fill max max_pool1d max_pool2d_with_indices "
      "max_pool3d_with_indices maximum min minimum native_dropout ne neg new_empty "
      "new_empty_strided new_full new_ones new_zeros normal ones ones_like permute rand "
      "randint randn random reflection_pad1d reflection_pad2d relu repeat replication_pad2d "
      "_reshape_alias resize roll round scalar_tensor scatter select set sgn sign slice "
      "sort split split_with_sizes squeeze stack t _to_copy topk transpose tril triu unbind "
      "unfold uniform unsafe_split _unsafe_view unsqueeze upsample_nearest1d "
      "upsample_nearest2d upsample_nearest3d view where zero zeros zeros_like",
      {OperatorKind::exact});
  add(table,
      "add addcdiv addcmul div leaky_relu lerp mul _prelu_kernel reciprocal rsub square sub "
      "threshold",
      {OperatorKind::one_rounding});

  // Approximations of CUDA's classes __expf and tanhf.
  add(table, "cos erf exp exp2 pow rsqrt sigmoid silu sin", elementary(4));
  add(table, "sqrt", elementary(2));
  add(table, "celu elu expm1 log log10 log1p log2 log_sigmoid_forward softplus tanh xlogy",
      elementary(4, Besides::one));
  add(table, "gelu mish", elementary(4, Besides::argument));
  add(table, "hardswish", elementary(2, Besides::argument));
  add(table, "hardsigmoid", elementary(2, Besides::one));

  OperatorRule looked_at = sum(reduced);
  looked_at.rows = rows_of_sum;
  add(table, "nansum sum", looked_at);
  looked_at.rows = rows_of_mean;
  add(table, "mean", looked_at);
  add(table, "cumsum", sum(along));
  OperatorRule running_product = sum(along);
  running_product.in_range = within_floats;
  add(table, "cumprod", running_product);
  add(table, "avg_pool2d", sum(in_window<2>));
  add(table, "avg_pool3d", sum(in_window<3>));
  add(table, "_adaptive_avg_pool2d _adaptive_avg_pool3d", sum(in_bin));
  add(table, "upsample_bilinear2d", sum(always<4>));
  add(table, "upsample_trilinear3d", sum(always<8>));

  add(table, "mm bmm mv dot", product(depth));
  OperatorRule conv = product(in_filter);
  conv.is_convolution = true;
  conv.parts = convolution;
  add(table, "convolution", conv);

  add(table, "addmm", made_of(product_and_sum<at::mm>));
  add(table, "baddbmm", made_of(product_and_sum<at::bmm>));
  add(table, "addmv", made_of(product_and_sum<at::mv>));
  add(table, "native_batch_norm", made_of(batch_norm<3>));
  add(table, "cudnn_batch_norm", made_of(batch_norm<4>));
  add(table, "native_layer_norm", made_of(layer_norm));
  add(table, "native_group_norm", made_of(group_norm));
  add(table, "_softmax _safe_softmax", made_of(softmax));
  add(table, "_log_softmax", made_of(log_softmax));
  add(table, "logsumexp", made_of(logsumexp));
  add(table, "var", made_of(variance));
  add(table, "std", made_of(deviation));
  add(table, "var_mean", made_of(variance_and_mean));
  add(table, "std_mean", made_of(deviation_and_mean));
  add(table, "linalg_vector_norm norm", made_of(vector_norm));
  add(table, "mse_loss", made_of(mse_loss));
  add(table, "smooth_l1_loss", made_of(smooth_l1_loss));
  add(table, "huber_loss", made_of(huber_loss));
  add(table, "nll_loss_forward", made_of(nll_loss));
  add(table, "_thnn_fused_lstm_cell", made_of(lstm_cell));
  add(table, "_thnn_fused_gru_cell", made_of(gru_cell));
  return table;
}

}  // namespace

const OperatorRule* rule_of(const c10::FunctionSchema& schema) {
  static const Table table = make_table();
  std::string_view name = schema.name();
  constexpr std::string_view prefix = "aten::";
  if (!name.starts_with(prefix)) return nullptr;
  name.remove_prefix(prefix.size());
  if (name.ends_with('_')) name.remove_suffix(1);
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

const OperatorRule& product_of_one_term() {
  static const OperatorRule rule = product(always<1>);
  return rule;
}

double roundoff_of_sum(double terms) {
  return std::sqrt(std::min(terms, 0x1p20)) * float_roundoff;
}

double roundoff_of_any_sum(double terms) {
  const double one_way = std::min(terms, 0x1p16) / 8;
  return std::max(roundoff_of_sum(terms), one_way * float_roundoff);
}

double roundoff_of_products(double terms) {
  return 4 * std::sqrt(std::min(terms, 0x1p16)) * float_roundoff;
}

}  // namespace kb
