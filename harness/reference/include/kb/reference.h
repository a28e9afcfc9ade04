// What a task's reference.cpp includes: ATen, tensor declarations and define().
#pragma once

#include <ATen/ATen.h>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "kb/model.h"
#include "kb/task.h"

namespace kb {

/// The size sets of a task besides `full`, which is Sizes{} (upstream's constants). `smoke` is
/// quick on one CPU core; `odd` has the awkward shapes (no multiple of a tile, a warp or a vector).
template <class Sizes>
struct SizeSets {
  Sizes smoke;
  Sizes odd;
};

namespace detail {

template <class F>
struct LaunchTraits;
template <class S, class... A>
struct LaunchTraits<void(const S&, A...)> {
  using Sizes = S;
  static constexpr size_t arguments = sizeof...(A);
  static constexpr bool takes_table = (std::is_same_v<A, const Weights&> || ...);
};

template <class... T>
struct List {};
template <class... A, class... B>
List<A..., B...> join(List<A...>, List<B...>);

template <class T>
constexpr bool is_model = false;
template <class Model>
constexpr bool is_model<ModelWeights<Model>> = true;

// Inputs, then weights, then unread state, then outputs: the order of launch()'s parameters.
template <class T>
constexpr Role role_of = T::role_of;
template <class Model>
constexpr Role role_of<ModelWeights<Model>> = Role::weight;

// The parameters that one declared tensor adds to launch(). A network's weights are one table, or
// `Pointers` of them.
template <class T, size_t Pointers>
struct Parameter {
  using type =
      std::conditional_t<T::role_of == Role::unread, List<>,
                         std::conditional_t<T::role_of == Role::output, List<typename T::Element*>,
                                            List<const typename T::Element*>>>;
};
template <size_t Index>
using WeightPointer = const real*;
template <size_t... I>
List<WeightPointer<I>...> weight_pointers(std::index_sequence<I...>);
template <class Model, size_t Pointers>
struct Parameter<ModelWeights<Model>, Pointers> {
  using type = decltype(weight_pointers(std::make_index_sequence<Pointers>{}));
};
template <class Model>
struct Parameter<ModelWeights<Model>, 0> {
  using type = List<const Weights&>;
};

// The parameters that one declared tensor adds to reference().
template <class T>
struct Argument {
  using type = std::conditional_t<T::role_of <= Role::weight, List<Tensor>, List<>>;
};
template <class Model>
struct Argument<ModelWeights<Model>> {
  using type = List<const Model&>;
};

template <class... L>
struct Concat {
  using type = List<>;
};
template <class H, class... L>
struct Concat<H, L...> {
  using type = decltype(join(H{}, typename Concat<L...>::type{}));
};

template <class Sizes, class L>
struct LaunchOf;
template <class Sizes, class... A>
struct LaunchOf<Sizes, List<A...>> {
  using type = void(const Sizes&, A..., cudaStream_t);
};

template <class R, class Sizes, class L>
struct Callable;
template <class R, class Sizes, class... A>
struct Callable<R, Sizes, List<A...>> : std::is_invocable<R, const Sizes&, A...> {};

template <class... T>
struct Checked;
template <class... T>
struct Checked<std::tuple<T...>> {
  static constexpr bool in_order() {
    Role last = Role::input;
    bool ok = true;
    ((ok = ok && role_of<T> >= last, last = role_of<T>), ...);
    return ok;
  }
  static constexpr bool has_model = (is_model<T> || ...);

  // How many pointers launch() has for the weights of the network, if it takes no table.
  template <class Launch>
  static constexpr size_t pointers() {
    using Traits = LaunchTraits<Launch>;
    constexpr size_t others = ((!is_model<T> && role_of<T> != Role::unread ? 1 : 0) + ... + 1);
    if (!has_model || Traits::takes_table || Traits::arguments < others) return 0;
    return Traits::arguments - others;
  }

  template <class Launch, class Reference>
  static constexpr void check() {
    using Sizes = typename LaunchTraits<Launch>::Sizes;
    using Wanted = typename LaunchOf<
        Sizes, typename Concat<typename Parameter<T, pointers<Launch>()>::type...>::type>::type;
    static_assert((0 + ... + is_model<T>) <= 1, "tensors() may list the weights of one network");
    static_assert(in_order(),
                  "tensors() must list inputs, then weights, then unread buffers, then outputs");
    static_assert(std::is_same_v<Launch, Wanted>,
                  "task::launch in task.h must take const Sizes&, then one const pointer per input "
                  "and weight (or one const kb::Weights& for weights<Model>()) and one pointer per "
                  "output of tensors() in that order and of those element types, then "
                  "cudaStream_t");
    static_assert(
        Callable<Reference, Sizes, typename Concat<typename Argument<T>::type...>::type>::value,
        "reference() must take const Sizes&, then one Tensor per input and weight of "
        "tensors() (const Model& for weights<Model>())");
  }
};

template <class T, Role R>
void append(std::vector<TensorSpec>& specs, const Typed<T, R>& spec) {
  specs.push_back(spec);
}
template <class Model>
void append(std::vector<TensorSpec>& specs, const ModelWeights<Model>& weights) {
  const auto& declared = weights.declaration->specs();
  specs.insert(specs.end(), declared.begin(), declared.end());
}

// What one declared tensor hands to reference(), as a tuple; `next` walks over the flat list of
// what is given.
template <class T, Role R>
auto take(const Typed<T, R>&, const std::vector<Tensor>& given, size_t& next) {
  if constexpr (R <= Role::weight) {
    return std::tuple<const Tensor&>(given.at(next++));
  } else {
    return std::tuple<>{};
  }
}
template <class Model>
auto take(const ModelWeights<Model>& weights, const std::vector<Tensor>& given, size_t& next) {
  const size_t first = next;
  next += weights.declaration->count();
  TORCH_CHECK(next <= given.size(), "the network has more weights than were given");
  weights.declaration->bind(given.data() + first);
  return std::tuple<const Model&>(*weights.model);
}

inline std::vector<Tensor> to_vector(Tensor t) { return {std::move(t)}; }
template <class... T>
std::vector<Tensor> to_vector(std::tuple<T...> outputs) {
  return std::apply([](auto&&... t) { return std::vector<Tensor>{std::move(t)...}; },
                    std::move(outputs));
}

// What tensors() declares, made once for each set of sizes: calls of a reference are timed. For
// one thread.
template <class Tensors, class Sizes>
class Declared {
 public:
  using Tuple = std::invoke_result_t<Tensors, const Sizes&>;
  explicit Declared(Tensors tensors) : tensors_(std::move(tensors)) {}

  const Tuple& at(const SizeBytes& bytes) {
    const auto found = made_.find(bytes);
    if (found != made_.end()) return found->second;
    return made_.emplace(bytes, tensors_(sizes_from<Sizes>(bytes))).first->second;
  }
  std::vector<TensorSpec> specs(const SizeBytes& bytes) {
    std::vector<TensorSpec> specs;
    std::apply([&](const auto&... t) { (append(specs, t), ...); }, at(bytes));
    return specs;
  }

 private:
  Tensors tensors_;
  std::map<SizeBytes, Tuple> made_;
};

template <class Model>
void settle(const ModelWeights<Model>& weights, const std::vector<Tensor>& given) {
  weights.declaration->bind(given.data());
  weights.declaration->settle();
}
template <class T, Role R>
void settle(const Typed<T, R>&, const std::vector<Tensor>&) {}

}  // namespace detail

/// Builds a task from its parts and checks at compile time that they fit each other.
/// @tparam Launch   decltype(task::launch)
/// @param category  upstream's kind of operator
/// @param tensors   Sizes -> std::tuple of input(), weight() or one weights<Model>(),
/// unread_buffer(), output()
/// @param reference upstream's forward on ATen: (Sizes, Tensor...) -> Tensor or std::tuple of them
/// @param sets      smoke and odd sizes
/// @throws c10::Error if launch() has another number of weights than the network
template <class Launch, class Tensors, class Reference,
          class Sizes = typename detail::LaunchTraits<Launch>::Sizes>
Task define(std::string category, Tensors tensors, Reference reference,
            const SizeSets<Sizes>& sets) {
  using Checked = detail::Checked<std::invoke_result_t<Tensors, const Sizes&>>;
  Checked::template check<Launch, Reference>();
  const auto declared = std::make_shared<detail::Declared<Tensors, Sizes>>(std::move(tensors));

  Task task;
  task.name = KB_TASK_NAME;
  task.category = std::move(category);
  task.fields = size_fields<Sizes>();
  task.smoke = size_bytes(sets.smoke);
  task.odd = size_bytes(sets.odd);
  task.full = size_bytes(Sizes{});
  task.weight_table = detail::LaunchTraits<Launch>::takes_table;
  task.tensors = [declared](const SizeBytes& bytes) { return declared->specs(bytes); };
  task.reference = [declared, reference](const SizeBytes& bytes, const std::vector<Tensor>& given) {
    size_t next = 0;
    auto arguments = std::apply(
        [&](const auto&... t) {
          // Braces fix the order of evaluation.
          std::tuple<decltype(detail::take(t, given, next))...> nested{
              detail::take(t, given, next)...};
          return std::apply([](auto&... part) { return std::tuple_cat(part...); }, nested);
        },
        declared->at(bytes));
    return detail::to_vector(std::apply(
        [&](const auto&... a) { return reference(sizes_from<Sizes>(bytes), a...); }, arguments));
  };
  if constexpr (Checked::has_model) {
    task.settle_weights = [declared](const SizeBytes& bytes, const std::vector<Tensor>& weights) {
      std::apply([&](const auto&... t) { (detail::settle(t, weights), ...); }, declared->at(bytes));
    };
    constexpr size_t pointers = Checked::template pointers<Launch>();
    size_t count = 0;
    for (const TensorSpec& spec : task.tensors(task.smoke)) count += spec.role == Role::weight;
    TORCH_CHECK(task.weight_table || count == pointers, task.name, ": task::launch takes ",
                pointers, " weights, but the network has ", count);
  }
  return task;
}

}  // namespace kb
