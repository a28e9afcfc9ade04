// A run is noted call by call, with what each value is made of; what values are needed for is found
// backwards from the outputs.
//
// Each number is bounded from below, for what decides, and estimated, for what is shown.
#include "judge/acceptance/launch_work.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "judge/acceptance/linear_operators.h"
#include "judge/acceptance/trace.h"

namespace kb {
namespace {

using Memory = const c10::StorageImpl*;
using Shape = std::vector<int64_t>;

// Of elements, bytes, or a share.
struct Amount {
  double sure = 0, likely = 0;

  static Amount both(double value) { return {value, value}; }
  Amount at_most(const Amount& other) const {
    return {std::min(sure, other.sure), std::min(likely, other.likely)};
  }
  Amount plus(const Amount& other) const { return {sure + other.sure, likely + other.likely}; }
  Amount times(const Amount& other) const { return {sure * other.sure, likely * other.likely}; }
  Amount times(double factor) const { return {sure * factor, likely * factor}; }
  Amount per(double whole) const { return {sure / whole, likely / whole}; }
  /// What passes on one more way: the ways may meet again.
  void add_way(const Amount& way) {
    sure = std::max(sure, way.sure);
    likely += way.likely;
  }
};

enum class Origin { constant, weights, inputs };

// What lies in a piece of memory.
struct Value {
  Origin origin = Origin::constant;
  /// The fewest elements that it is a linear function of (of inputs), or any function (of weights).
  Amount freedom = {0, std::numeric_limits<double>::infinity()};
  std::set<size_t> sources = {};   ///< where its linear chain begins, or of which weights it is
  std::set<size_t> products = {};  ///< counted calls in that chain
};

// A tensor among a call's arguments or results.
struct Use {
  size_t argument = 0;
  Memory memory = nullptr;
  double elements = 0;  ///< different ones
  double bytes_each = 0;
  bool whole = false;  ///< all that the memory holds
  Shape shape = {};
  Value value = {};  ///< when it was read

  bool varies() const { return value.origin == Origin::inputs; }
  double bytes() const { return elements * bytes_each; }
  /// The share of its elements that are free.
  Amount share() const {
    if (elements <= 0) return Amount::both(1);
    return value.freedom.per(elements).at_most(Amount::both(1));
  }
};

void collect(const c10::IValue& value, size_t argument, std::vector<Use>& uses) {
  if (value.isList()) {
    for (const c10::IValue& part : value.toListRef()) collect(part, argument, uses);
  } else if (value.isTensor() && value.toTensor().defined() && value.toTensor().has_storage()) {
    const at::Tensor& t = value.toTensor();
    const auto bytes_each = static_cast<double>(t.element_size());
    const double held = static_cast<double>(t.storage().nbytes()) / bytes_each;
    const double elements = std::min(static_cast<double>(t.numel()), held);
    uses.push_back({.argument = argument,
                    .memory = t.storage().unsafeGetStorageImpl(),
                    .elements = elements,
                    .bytes_each = bytes_each,
                    .whole = elements >= held,
                    .shape = t.sizes().vec()});
  }
}

double elements_of(const std::vector<Use>& uses) {
  double sum = 0;
  for (const Use& use : uses) sum += use.elements;
  return sum;
}

double bytes_of(const std::vector<Use>& uses) {
  double sum = 0;
  for (const Use& use : uses) sum += use.bytes();
  return sum;
}

struct Call {
  std::vector<Use> reads, writes;
  Origin origin = Origin::constant;
  bool linear = false;    ///< in the arguments that vary
  bool view = false;      ///< makes nothing new
  bool computes = false;  ///< new values
  CountedCall counted;
  Amount share = Amount::both(1);  ///< of its arithmetic, by what its operands are made of
  // Found backwards:
  Amount left = Amount::both(1);  ///< of its results, at the narrowest place behind them
  Shape narrowest;                ///< of what is there

  bool counts() const { return counted.work.flops > 0; }
  /// Each result of a recurrent layer needs most of it.
  bool recurrent() const { return counted.work.recurrent; }
  bool is_operand(const Use& use) const {
    const auto& operands = counted.operands;
    return std::find(operands.begin(), operands.end(), use.argument) != operands.end();
  }
  bool operands_vary() const {
    return std::any_of(reads.begin(), reads.end(),
                       [&](const Use& use) { return use.varies() && is_operand(use); });
  }
  /// Of its arithmetic, by what its operands are made of that are weights.
  double share_of_inputs() const {
    if (!operands_vary()) return 0;
    double elements = 0, free = 0;
    for (const Use& use : reads) {
      if (use.value.origin != Origin::weights || !is_operand(use)) continue;
      elements += use.elements;
      free += use.elements * use.share().sure;
    }
    return elements > 0 ? free / elements : 1;
  }
  Amount owed_share() const {
    if (!operands_vary()) return {};
    const Amount narrowed = share.times(left);
    return {with_taps(narrowed.sure), with_taps(narrowed.likely)};
  }

 private:
  // Where a dimension is summed up as a whole, elements meet the sum of a kernel's taps at once.
  double with_taps(double narrowed) const {
    return counted.taps > 1 && narrowed * counted.extent <= 1 ? narrowed / counted.taps : narrowed;
  }
};

// Two counted calls of which one may take over the other's work.
struct Foldable {
  size_t first, second;
  enum { series, sum, side_by_side } how;
};

// Two whose results meet in a third, as those that make queries and keys.
struct Bilinear {
  size_t first, second, product;
};

// How much of a value is needed, and the shape of what its neediest reader needs.
struct Need {
  Amount elements;
  Shape shape;
};

class Groups {
 public:
  explicit Groups(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  size_t of(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(size_t a, size_t b) { parent_[of(a)] = of(b); }

 private:
  std::vector<size_t> parent_;
};

bool meet(const std::set<size_t>& a, const std::set<size_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](size_t i) { return b.contains(i); });
}

class Watcher final : public Tracer {
 public:
  Watcher(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights) {
    for (const at::Tensor& t : weights) give(t, {.origin = Origin::weights, .sources = {next_++}});
    for (const at::Tensor& t : inputs) give(t, {.origin = Origin::inputs, .sources = {next_++}});
  }

  bool opens(const c10::OperatorHandle& op) override { return !is_taken_whole(op.schema()); }

  void call(const c10::OperatorHandle& op, torch::jit::Stack& stack) override {
    const c10::FunctionSchema& schema = op.schema();
    const size_t first = stack.size() - schema.arguments().size();
    const std::vector<c10::IValue> arguments(stack.begin() + static_cast<std::ptrdiff_t>(first),
                                             stack.end());
    Call call;
    std::vector<bool> varies(arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!ignores_values(schema)) collect(arguments[i], i, call.reads);
      const c10::AliasInfo* alias = schema.arguments()[i].alias_info();
      if (alias != nullptr && alias->isWrite()) collect(arguments[i], i, call.writes);
    }
    for (Use& read : call.reads) {
      if (const auto known = values_.find(read.memory); known != values_.end()) {
        read.value = known->second;
        // A view may hold less than its memory.
        read.value.freedom = read.value.freedom.at_most(Amount::both(read.elements));
      }
      call.origin = std::max(call.origin, read.value.origin);
      varies[read.argument] = varies[read.argument] || read.varies();
    }
    flow_.call(op, stack);
    std::vector<Use> results;
    for (size_t i = first; i < stack.size(); ++i) collect(stack[i], i, results);
    call.computes = add_results(call, std::move(results)) && !only_moves(schema);
    call.counted =
        count_call(schema, arguments, stack.size() > first ? stack[first] : c10::IValue());
    call.linear = call.origin == Origin::inputs && is_linear(schema, arguments, varies);
    for (const size_t argument : call.counted.operands) {
      call.share = call.share.times(free_share(call, argument));
    }
    if (!call.view) keep(call, result_of(call, concatenates(schema)));
    calls_.push_back(std::move(call));
  }

  LaunchWork work(const std::vector<at::Tensor>& outputs) {
    const std::vector<bool> needed = flow_.needed_by(outputs);
    look_back(needed, outputs);
    Groups groups = group(needed);
    LaunchWork work;
    std::map<size_t, OwedWork> largest;  // by group
    std::map<Memory, WeightBytes> apart;
    for (size_t i = 0; i < calls_.size(); ++i) {
      if (!needed[i]) continue;
      const Call& call = calls_[i];
      work.counted += call.counted.work;
      work.flops_of_weights += call.counted.work.flops * (1 - call.share_of_inputs());
      if (call.computes) {
        const double bytes = bytes_of(call.reads) + bytes_of(call.writes);
        work.operator_bytes += bytes;
        if (call.origin != Origin::inputs) work.operator_bytes_of_weights += bytes;
      }
      if (call.origin != Origin::inputs) continue;
      note_weights_apart(call, apart);
      const Amount share = call.owed_share();
      const double flops = call.counted.work.flops, bytes = operand_weight_bytes(call);
      OwedWork& sure = largest[groups.of(i)];
      sure.flops = std::max(sure.flops, flops * share.sure);
      sure.weight_bytes = std::max(sure.weight_bytes, bytes * share.sure);
      work.likely.flops += flops * share.likely;
      work.likely.weight_bytes += bytes * share.likely;
      if (call.operands_vary()) work.unfolded_weight_bytes += bytes * unfolded_share(call);
    }
    for (const auto& [group, owed] : largest) {
      work.sure.flops += owed.flops;
      work.sure.weight_bytes += owed.weight_bytes;
    }
    for (const auto& [memory, bytes] : apart) {
      work.sure.weight_bytes += bytes.owed.sure;
      work.likely.weight_bytes += bytes.owed.likely;
      work.unfolded_weight_bytes += bytes.unfolded;
    }
    return work;
  }

 private:
  // Of one piece of memory.
  struct WeightBytes {
    Amount owed;
    double unfolded = 0;
  };

  void give(const at::Tensor& t, Value value) {
    // Some layers keep all their weights in one piece.
    Value& here = values_[t.storage().unsafeGetStorageImpl()];
    const double before = here.origin == value.origin ? here.freedom.sure : 0;
    value.freedom = Amount::both(before + static_cast<double>(t.numel()));
    if (value.origin >= here.origin) here = std::move(value);
  }

  // Returns whether anything new is written.
  static bool add_results(Call& call, std::vector<Use> results) {
    bool writes = !call.writes.empty();
    for (Use& use : results) {
      const auto same = [&](const Use& other) { return other.memory == use.memory; };
      if (std::any_of(call.writes.begin(), call.writes.end(), same)) continue;
      const bool of_argument = std::any_of(call.reads.begin(), call.reads.end(), same);
      (of_argument ? call.view : writes) = true;
      call.writes.push_back(std::move(use));
    }
    return writes;
  }

  // Of all elements of an argument, which may be a list.
  static Amount free_share(const Call& call, size_t argument) {
    double elements = 0;
    Amount free;
    for (const Use& use : call.reads) {
      if (use.argument != argument) continue;
      elements += use.elements;
      free = free.plus(use.share().times(use.elements));
    }
    return elements > 0 ? free.per(elements) : Amount::both(1);
  }

  Value result_of(const Call& call, bool side_by_side) {
    Value result{.origin = call.origin};
    if (call.origin == Origin::constant) return result;
    const Amount elements = Amount::both(elements_of(call.writes));
    if (call.origin == Origin::inputs) find_foldable(call, side_by_side);
    if (call.origin == Origin::inputs && !call.linear) {
      return {.origin = Origin::inputs, .freedom = elements, .sources = {next_++}};
    }
    result.freedom = {};
    double sum_apart = 0;  // of what can only be side by side
    for (const Use& use : call.reads) {
      if (use.value.origin != call.origin) continue;
      const bool apart = side_by_side && !meet(use.value.sources, result.sources);
      result.freedom.add_way(use.value.freedom);
      if (apart) result.freedom.sure = sum_apart += use.value.freedom.sure;
      result.sources.insert(use.value.sources.begin(), use.value.sources.end());
      result.products.insert(use.value.products.begin(), use.value.products.end());
    }
    result.freedom = result.freedom.at_most(elements);
    if (call.counts() && call.operands_vary()) result.products.insert(calls_.size());
    return result;
  }

  // The counted calls through which a call that is about to be noted gets an argument, itself
  // included.
  std::set<size_t> products_in(const Call& call, const Use& use) const {
    if (call.linear && call.counts() && call.is_operand(use)) return {calls_.size()};
    return use.value.products;
  }

  void find_foldable(const Call& call, bool side_by_side) {
    const size_t id = calls_.size();
    for (size_t i = 0; i < call.reads.size(); ++i) {
      const Use& a = call.reads[i];
      if (!a.varies()) continue;
      const bool operand = call.counts() && call.is_operand(a);
      if (operand && (call.linear || call.recurrent())) {
        for (const size_t before : a.value.products) {
          foldable_.push_back({before, id, Foldable::series});
        }
      }
      for (size_t j = i + 1; j < call.reads.size(); ++j) {
        const Use& b = call.reads[j];
        if (!b.varies()) continue;
        const bool joined = call.linear && meet(a.value.sources, b.value.sources);
        const bool bilinear = operand && call.is_operand(b) && !call.linear && !call.recurrent();
        if (!joined && !bilinear) continue;
        for (const size_t first : products_in(call, a)) {
          for (const size_t second : products_in(call, b)) {
            if (first == second) continue;
            if (bilinear) bilinear_.push_back({first, second, id});
            if (joined) {
              foldable_.push_back(
                  {first, second, side_by_side ? Foldable::side_by_side : Foldable::sum});
            }
          }
        }
      }
    }
  }

  // What only part of the memory is written with adds to what was there.
  void keep(const Call& call, const Value& result) {
    for (const Use& use : call.writes) {
      Value& here = values_[use.memory];
      const Amount freedom = result.freedom.at_most(Amount::both(use.elements));
      if (use.whole) {
        here = result;
        here.freedom = freedom;
      } else if (here.origin <= result.origin) {
        if (here.origin < result.origin) here = {.origin = result.origin, .freedom = {}};
        here.freedom.add_way(freedom);
        here.sources.insert(result.sources.begin(), result.sources.end());
        here.products.insert(result.products.begin(), result.products.end());
      }
    }
  }

  // How many elements of each call's results pass the narrowest place behind them. Who reads a view
  // reads the memory.
  void look_back(const std::vector<bool>& needed, const std::vector<at::Tensor>& outputs) {
    std::map<Memory, Need> needs;
    const auto need = [&](Memory memory, const Amount& elements, const Shape& shape) {
      Need& here = needs[memory];
      if (elements.sure > here.elements.sure) here.shape = shape;
      here.elements.add_way(elements);
    };
    std::vector<Use> wanted;
    for (const at::Tensor& output : outputs) collect(output, 0, wanted);
    for (const Use& use : wanted) need(use.memory, Amount::both(use.elements), use.shape);
    for (size_t i = calls_.size(); i-- > 0;) {
      Call& call = calls_[i];
      if (!needed[i] || call.view) continue;
      Amount passing;
      double all = 0;
      for (const Use& use : call.writes) {
        const auto found = needs.find(use.memory);
        if (found == needs.end()) continue;
        const Amount own = found->second.elements.at_most(Amount::both(use.elements));
        passing = passing.plus(own);
        all += use.elements;
        call.narrowest = own.sure < use.elements ? found->second.shape : use.shape;
        if (use.whole) needs.erase(found);  // of what was there before, nothing is left
      }
      if (all > 0 && !call.recurrent()) call.left = passing.per(all);
      for (const Use& use : call.reads) {
        const Amount elements = others_share(call, use).times(use.elements);
        const bool chain = use.varies() && call.linear;
        const bool narrow = chain && passing.sure < elements.sure;
        need(use.memory, chain ? elements.at_most(passing) : elements,
             narrow ? call.narrowest : use.shape);
      }
    }
  }

  // Weights on one side of a product of two values that vary may go to the other side.
  static Amount others_share(const Call& call, const Use& use) {
    Amount share = Amount::both(1);
    if (!call.counts() || call.linear || call.recurrent() || !call.is_operand(use)) return share;
    for (const Use& other : call.reads) {
      if (&other == &use || !call.is_operand(other)) continue;
      // Queries that are weights make of keys as few scores as there are queries.
      if (!other.varies()) return {0, 1};
      share = share.times(other.share());
    }
    return share;
  }

  static double operand_weight_bytes(const Call& call) {
    double sum = 0;
    for (const Use& use : call.reads) {
      const bool weight = use.value.origin == Origin::weights;
      if (weight && call.counts() && call.is_operand(use)) sum += use.bytes();
    }
    return sum;
  }

  // Summands, factors, tables.
  static void note_weights_apart(const Call& call, std::map<Memory, WeightBytes>& apart) {
    for (const Use& use : call.reads) {
      if (use.value.origin != Origin::weights) continue;
      if (call.counts() && call.is_operand(use)) continue;
      WeightBytes& here = apart[use.memory];
      Amount own = use.share().times(use.bytes());
      here.unfolded = std::max(here.unfolded, own.likely);
      if (call.linear) own = own.times(call.left);
      // Of a table only some rows are read.
      own = own.at_most(Amount::both(elements_of(call.writes) * use.bytes_each));
      here.owed = {std::max(here.owed.sure, own.sure), std::max(here.owed.likely, own.likely)};
    }
  }

  // A place with as many rows as a product has leaves rows whole, so there are fewer columns.
  static double unfolded_share(const Call& call) {
    const Shape shape = call.writes.empty() ? Shape{} : call.writes[0].shape;
    const double columns = shape.empty() ? 1 : static_cast<double>(shape.back());
    const double rows = elements_of(call.writes) / std::max(columns, 1.0);
    double before = 1;
    bool rows_stay = before == rows;
    for (const int64_t extent : call.narrowest) {
      before *= static_cast<double>(extent);
      rows_stay = rows_stay || before == rows;
    }
    const bool folds = rows_stay && !call.counted.work.convolution;
    return call.share.likely * (folds ? call.left.likely : 1);
  }

  // Two products in a row cost less as one unless there are few values between them: with `depth`
  // values for each row between, n before and r behind, depth * (n + r) against n * r.
  bool saves(const Foldable& pair) const {
    const Call &a = calls_[pair.first], &b = calls_[pair.second];
    if (pair.how == Foldable::sum || a.recurrent() || b.recurrent()) return true;
    if (pair.how == Foldable::side_by_side) return a.left.sure < 1 || b.left.sure < 1;
    double operand = 0;
    for (const Use& use : b.reads) {
      if (use.varies() && b.is_operand(use)) operand += use.elements;
    }
    const double before = a.counted.work.flops * a.share.sure / (2 * elements_of(a.writes));
    const double behind = b.counted.work.flops * b.left.sure / (2 * operand);
    return b.counted.depth * (before + behind) > before * behind;
  }

  Groups group(const std::vector<bool>& needed) const {
    Groups groups(calls_.size());
    for (const Foldable& pair : foldable_) {
      if (needed[pair.first] && needed[pair.second] && saves(pair)) {
        groups.join(pair.first, pair.second);
      }
    }
    for (const auto& [first, second, product] : bilinear_) {
      if (!needed[product]) continue;
      // x * A * transpose(B) * transpose(y) with one matrix in the middle.
      const double depth = std::min(calls_[first].counted.depth, calls_[second].counted.depth);
      if (depth < 2 * calls_[product].counted.depth) groups.join(first, second);
    }
    return groups;
  }

  DataFlow flow_;
  std::vector<Call> calls_;
  std::map<Memory, Value> values_;
  std::vector<Foldable> foldable_;
  std::vector<Bilinear> bilinear_;
  size_t next_ = 0;  ///< source
};

}  // namespace

LaunchWork watch_launch_work(const std::vector<at::Tensor>& inputs,
                             const std::vector<at::Tensor>& weights,
                             const std::function<std::vector<at::Tensor>()>& run) {
  Watcher watcher(inputs, weights);
  std::vector<at::Tensor> outputs;
  trace(watcher, [&] { outputs = run(); });
  return watcher.work(outputs);
}

}  // namespace kb
