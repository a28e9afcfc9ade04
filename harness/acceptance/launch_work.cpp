// A run is noted call by call, with what each value is made of; what values are needed for is found
// backwards from the outputs.
//
// Everything here errs towards less: where values meet again on several ways, the widest way alone
// says how many elements must pass, although all of them may have to.
#include "acceptance/launch_work.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "acceptance/linear_operators.h"
#include "acceptance/trace.h"

namespace kb {
namespace {

using Memory = const c10::StorageImpl*;
using Arguments = c10::ArrayRef<c10::IValue>;

enum class Origin { constant, weights, inputs };

// What lies in a piece of memory.
struct Value {
  Origin origin = Origin::constant;
  /// The fewest elements that it is a linear function of (of inputs), or any function (of weights).
  double freedom = 0;
  std::set<size_t> sources;   ///< where its linear chain begins: inputs, results of other operators
  std::set<size_t> products;  ///< counted calls in that chain
};

// A tensor among a call's arguments or results.
struct Use {
  size_t argument = 0;
  Memory memory = nullptr;
  double elements = 0;  ///< different ones
  double bytes = 0;     ///< of each
  std::vector<int64_t> shape;
  Value value;  ///< when it was read

  bool varies() const { return value.origin == Origin::inputs; }
  /// The share of its elements that are free.
  double share() const { return elements > 0 ? std::min(1.0, value.freedom / elements) : 1; }
};

void collect(const c10::IValue& value, size_t argument, std::vector<Use>& uses) {
  if (value.isList()) {
    for (const c10::IValue& part : value.toListRef()) collect(part, argument, uses);
  } else if (value.isTensor() && value.toTensor().defined() && value.toTensor().has_storage()) {
    const at::Tensor& t = value.toTensor();
    const auto bytes = static_cast<double>(t.element_size());
    const double held = static_cast<double>(t.storage().nbytes()) / bytes;
    uses.push_back({argument,
                    t.storage().unsafeGetStorageImpl(),
                    std::min(static_cast<double>(t.numel()), held),
                    bytes,
                    t.sizes().vec(),
                    {}});
  }
}

double sum_of_elements(const std::vector<Use>& uses) {
  return std::accumulate(uses.begin(), uses.end(), 0.0,
                         [](double sum, const Use& use) { return sum + use.elements; });
}

struct Call {
  std::vector<Use> reads, writes;
  Origin origin = Origin::constant;
  bool linear = false;     ///< in the arguments that vary
  bool moves = false;      ///< is more than another view of memory
  bool recurrent = false;  ///< each of its results needs most of it
  bool attention = false;
  CountedCall counted;
  double share = 1;  ///< of its arithmetic, by what its operands are made of
  // Found backwards:
  double left = 1;                 ///< of its results, at the narrowest place behind them
  std::vector<int64_t> narrowest;  ///< the shape of what is there

  bool counts() const { return counted.work.flops > 0; }
  bool is_operand(const Use& use) const {
    const auto& operands = counted.operands;
    return std::find(operands.begin(), operands.end(), use.argument) != operands.end();
  }
  bool operands_vary() const {
    return std::any_of(reads.begin(), reads.end(),
                       [&](const Use& use) { return use.varies() && is_operand(use); });
  }
  double owed_share() const {
    if (!operands_vary()) return 0;
    // Where a dimension is summed up as a whole, elements meet the sum of a kernel's taps at once.
    const double narrowed = share * left;
    return counted.taps > 1 && narrowed * counted.extent <= 1 ? narrowed / counted.taps : narrowed;
  }
};

// Two counted calls of which one may take over the other's work.
struct Foldable {
  size_t first, second;
  enum { series, sum, side_by_side, bilinear } how;
};

// How much of a value is needed: that of its reader that needs most.
struct Need {
  double elements = 0;
  std::vector<int64_t> shape;
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

class Watcher final : public Tracer {
 public:
  Watcher(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights) {
    for (const at::Tensor& t : weights) given(t, {.origin = Origin::weights});
    for (const at::Tensor& t : inputs) given(t, {.origin = Origin::inputs, .sources = {next_++}});
  }

  bool opens(const c10::OperatorHandle& op) override { return !is_counted_whole(op.schema()); }

  void call(const c10::OperatorHandle& op, torch::jit::Stack& stack) override {
    const c10::FunctionSchema& schema = op.schema();
    const size_t first = stack.size() - schema.arguments().size();
    const std::vector<c10::IValue> arguments(stack.begin() + static_cast<std::ptrdiff_t>(first),
                                             stack.end());
    Call call;
    std::vector<bool> varies(arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i) {
      collect(arguments[i], i, call.reads);
      const c10::AliasInfo* alias = schema.arguments()[i].alias_info();
      if (alias != nullptr && alias->isWrite()) collect(arguments[i], i, call.writes);
    }
    call.moves = !call.writes.empty();
    if (ignores_values(schema)) call.reads.clear();
    for (Use& read : call.reads) {
      if (const auto known = values_.find(read.memory); known != values_.end()) {
        read.value = known->second;
        // A view may hold less than its memory.
        read.value.freedom = std::min(read.value.freedom, read.elements);
      }
      call.origin = std::max(call.origin, read.value.origin);
      varies[read.argument] = varies[read.argument] || read.varies();
    }
    flow_.call(op, stack);
    std::vector<Use> results;
    for (size_t i = first; i < stack.size(); ++i) collect(stack[i], i, results);
    const c10::IValue result = stack.size() > first ? stack[first] : c10::IValue();
    call.counted = count_call(schema, arguments, result);
    call.recurrent = call.counted.work.recurrent;
    call.attention = call.counted.work.attention;
    call.linear = call.origin == Origin::inputs && is_linear(schema, arguments, varies);
    for (Use& use : results) {
      const auto same = [&](const Use& other) { return other.memory == use.memory; };
      if (std::any_of(call.writes.begin(), call.writes.end(), same)) continue;
      if (std::none_of(call.reads.begin(), call.reads.end(), same)) {
        call.moves = true;
      } else {
        views_.insert(calls_.size());
      }
      call.writes.push_back(std::move(use));
    }
    note(std::move(call), concatenates(schema));
  }

  LaunchWork work(const std::vector<at::Tensor>& outputs) {
    const std::vector<bool> needed = flow_.needed_by(outputs);
    look_back(needed, outputs);
    LaunchWork work;
    std::map<size_t, std::pair<double, double>> owed, unfolded;  // by group: FLOPs, bytes
    std::map<Memory, std::pair<double, double>> read;            // sure, and unfolded
    Groups groups = group(needed);
    for (size_t i = 0; i < calls_.size(); ++i) {
      if (!needed[i]) continue;
      const Call& call = calls_[i];
      work.counted += call.counted.work;
      if (!call.operands_vary()) work.flops_of_weights += call.counted.work.flops;
      if (call.moves) {
        const double moved = bytes_of(call.reads) + bytes_of(call.writes);
        work.moved_bytes += moved;
        if (call.origin != Origin::inputs) work.moved_of_weights += moved;
      }
      if (call.origin != Origin::inputs) continue;
      auto& [flops, bytes] = owed[groups.of(i)];
      flops = std::max(flops, call.counted.work.flops * call.owed_share());
      double operands = 0, whole = 0;
      for (const Use& use : call.reads) {
        if (use.value.origin != Origin::weights) continue;
        const double all = use.elements * use.bytes;
        if (call.counts() && call.is_operand(use)) {
          operands += all * call.owed_share();
          whole += all * (call.operands_vary() ? unfolded_share(call) : use.share());
          continue;
        }
        const double sure = std::min(all * use.share() * (call.linear ? call.left : 1),
                                     sum_of_elements(call.writes) * use.bytes);
        auto& [least, most] = read[use.memory];
        least = std::max(least, sure);
        most = std::max(most, all * use.share());
      }
      bytes = std::max(bytes, operands);
      unfolded[groups.of(i)].second = std::max(unfolded[groups.of(i)].second, whole);
    }
    for (const auto& [group, most] : owed) {
      work.flops += most.first;
      work.weight_bytes += most.second;
    }
    for (const auto& [group, most] : unfolded) work.unfolded_weight_bytes += most.second;
    for (const auto& [memory, bytes] : read) {
      work.weight_bytes += bytes.first;
      work.unfolded_weight_bytes += bytes.second;
    }
    return work;
  }

 private:
  void given(const at::Tensor& t, Value value) {
    // Some layers keep all their weights in one piece.
    Value& here = values_[t.storage().unsafeGetStorageImpl()];
    const double before = here.origin == value.origin ? here.freedom : 0;
    value.freedom = before + static_cast<double>(t.numel());
    if (value.origin >= here.origin) here = std::move(value);
  }

  static double bytes_of(const std::vector<Use>& uses) {
    double sum = 0;
    for (const Use& use : uses) sum += use.elements * use.bytes;
    return sum;
  }

  void note(Call call, bool side_by_side) {
    const size_t id = calls_.size();
    for (const size_t argument : call.counted.operands) {
      double elements = 0, free = 0;
      for (const Use& use : call.reads) {
        if (use.argument != argument) continue;
        elements += use.elements;
        free += use.elements * use.share();
      }
      if (elements > 0) call.share *= free / elements;
    }
    if (!views_.contains(id)) keep(call, id, result_of(call, id, side_by_side));
    calls_.push_back(std::move(call));
  }

  Value result_of(const Call& call, size_t id, bool side_by_side) {
    Value result{.origin = call.origin};
    const double elements = sum_of_elements(call.writes);
    if (call.origin == Origin::constant) return result;
    if (call.origin == Origin::inputs) find_foldable(call, id, side_by_side);
    for (const Use& use : call.reads) {
      if (use.value.origin != call.origin) continue;
      result.freedom = std::max(result.freedom, use.value.freedom);
      result.sources.insert(use.value.sources.begin(), use.value.sources.end());
      result.products.insert(use.value.products.begin(), use.value.products.end());
    }
    result.freedom = std::min(result.freedom, elements);
    if (call.origin == Origin::weights) return result;
    if (call.linear) {
      if (call.counts() && call.operands_vary()) result.products.insert(id);
      return result;
    }
    return {Origin::inputs, elements, {next_++}, {}};
  }

  void find_foldable(const Call& call, size_t id, bool side_by_side) {
    const auto pair_up = [&](const Value& a, const Value& b, auto how) {
      for (const size_t first : a.products) {
        for (const size_t second : b.products) {
          if (first != second) foldable_.push_back({first, second, how});
        }
      }
    };
    const auto meet = [](const Value& a, const Value& b) {
      return std::any_of(a.sources.begin(), a.sources.end(),
                         [&](size_t source) { return b.sources.contains(source); });
    };
    for (size_t i = 0; i < call.reads.size(); ++i) {
      const Use& a = call.reads[i];
      if (!a.varies()) continue;
      Value own = a.value;
      if (call.counts() && call.is_operand(a)) {
        if (call.linear || call.recurrent) {
          for (const size_t product : own.products)
            foldable_.push_back({product, id, Foldable::series});
        }
        if (call.linear) own.products = {id};
      }
      for (size_t j = i + 1; j < call.reads.size(); ++j) {
        const Use& b = call.reads[j];
        if (!b.varies()) continue;
        Value other = b.value;
        if (call.linear && call.counts() && call.is_operand(b)) other.products = {id};
        if (call.linear && meet(own, other)) {
          pair_up(own, other, side_by_side ? Foldable::side_by_side : Foldable::sum);
        } else if (call.counts() && !call.recurrent && call.is_operand(a) && call.is_operand(b)) {
          for (const size_t first : own.products) {
            for (const size_t second : other.products) bilinear_.push_back({first, second, id});
          }
        }
      }
    }
  }

  // What only part of the memory is written with adds to what was there.
  void keep(const Call& call, size_t, const Value& result) {
    for (const Use& use : call.writes) {
      Value& here = values_[use.memory];
      const double held = static_cast<double>(use.memory->nbytes()) / use.bytes;
      if (use.elements >= held || here.origin < result.origin) {
        const double before = use.elements >= held ? 0 : here.freedom;
        here = result;
        here.freedom = std::max(before, std::min(result.freedom, use.elements));
      } else if (here.origin == result.origin) {
        here.freedom = std::max(here.freedom, result.freedom);
        here.sources.insert(result.sources.begin(), result.sources.end());
        here.products.insert(result.products.begin(), result.products.end());
      }
    }
  }

  // How many elements of each call's results pass the narrowest place behind them.
  void look_back(const std::vector<bool>& needed, const std::vector<at::Tensor>& outputs) {
    std::map<Memory, Need> needs;
    const auto need = [&](Memory memory, double elements, const std::vector<int64_t>& shape) {
      Need& here = needs[memory];
      if (elements > here.elements) here = {elements, shape};
    };
    std::vector<Use> wanted;
    for (const at::Tensor& output : outputs) collect(output, 0, wanted);
    for (const Use& use : wanted) need(use.memory, use.elements, use.shape);
    for (size_t i = calls_.size(); i-- > 0;) {
      if (!needed[i]) continue;
      Call& call = calls_[i];
      double passing = 0, all = 0;
      for (const Use& use : call.writes) {
        const auto found = needs.find(use.memory);
        if (found == needs.end()) continue;
        const bool narrower = found->second.elements < use.elements;
        passing += narrower ? found->second.elements : use.elements;
        all += use.elements;
        call.narrowest = narrower ? found->second.shape : use.shape;
      }
      call.left = all > 0 && !call.recurrent ? passing / all : 1;
      for (const Use& use : call.reads) {
        const double elements = use.elements * others_share(call, use);
        const bool chain = use.varies() && call.linear && passing < elements;
        need(use.memory, chain ? passing : elements, chain ? call.narrowest : use.shape);
      }
    }
  }

  // Weights on one side of a product of two values that vary may go to the other side.
  static double others_share(const Call& call, const Use& use) {
    if (!call.counts() || call.linear || call.recurrent || !call.is_operand(use)) return 1;
    double share = 1;
    for (const Use& other : call.reads) {
      if (&other == &use || !call.is_operand(other)) continue;
      // Queries that are weights make of keys as few scores as there are queries.
      if (!other.varies()) return 0;
      share *= other.share();
    }
    return share;
  }

  // A place with as many rows as a product has leaves rows whole, so fewer columns are left.
  static double unfolded_share(const Call& call) {
    double rows = sum_of_elements(call.writes) /
                  static_cast<double>(call.writes.empty() || call.writes[0].shape.empty()
                                          ? 1
                                          : std::max<int64_t>(1, call.writes[0].shape.back()));
    double prefix = 1;
    bool whole = prefix == rows;
    for (const int64_t extent : call.narrowest) {
      prefix *= static_cast<double>(extent);
      whole = whole || prefix == rows;
    }
    return call.share * (whole && !call.counted.work.convolution ? call.left : 1);
  }

  // Two products in a row cost less as one unless there are few values between them: with `depth`
  // values for each row between, n before and r behind, depth * (n + r) against n * r.
  bool saves(const Foldable& pair) const {
    const Call &a = calls_[pair.first], &b = calls_[pair.second];
    if (pair.how == Foldable::sum || a.recurrent || b.recurrent) return true;
    if (pair.how == Foldable::side_by_side) return a.left < 1 || b.left < 1;
    double operand = 0;
    for (const Use& use : b.reads) {
      if (use.varies() && b.is_operand(use)) operand += use.elements;
    }
    const double before = a.counted.work.flops * a.share / (2 * sum_of_elements(a.writes));
    const double behind = b.counted.work.flops * b.left / (2 * operand);
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
      const Call &a = calls_[first], &b = calls_[second];
      const double middle = calls_[product].counted.depth;
      if (a.counted.depth < 2 * middle || b.counted.depth < 2 * middle) groups.join(first, second);
    }
    return groups;
  }

  struct Bilinear {
    size_t first, second, product;
  };

  DataFlow flow_;
  std::vector<Call> calls_;
  std::set<size_t> views_;
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
