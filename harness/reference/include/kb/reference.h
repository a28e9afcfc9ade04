// What a task's reference.cpp includes: ATen, tensor declarations and define().
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

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
};

template <class... T>
struct List {};
template <class... A, class... B>
List<A..., B...> join(List<A...>, List<B...>);

// The parameters that one declared tensor adds to launch().
template <class T>
struct Parameter;
template <class T>
struct Parameter<Typed<T, Role::input>> {
  using type = List<const T*>;
};
template <class T>
struct Parameter<Typed<T, Role::weight>> {
  using type = List<const T*>;
};
template <class T>
struct Parameter<Typed<T, Role::unread>> {
  using type = List<>;
};
template <class T>
struct Parameter<Typed<T, Role::output>> {
  using type = List<T*>;
};
template <>
struct Parameter<WeightTable> {
  using type = List<const Weights&>;
};

// The parameters that one declared tensor adds to reference().
template <class T>
struct Argument {
  using type = List<Tensor>;
};
template <class T>
struct Argument<Typed<T, Role::unread>> {
  using type = List<>;
};
template <class T>
struct Argument<Typed<T, Role::output>> {
  using type = List<>;
};
template <>
struct Argument<WeightTable> {
  using type = List<const NamedTensors&>;
};

template <template <class> class Map, class... T>
struct Concat {
  using type = List<>;
};
template <template <class> class Map, class H, class... T>
struct Concat<Map, H, T...> {
  using type = decltype(join(typename Map<H>::type{}, typename Concat<Map, T...>::type{}));
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

// Inputs, then weights, then unread state, then outputs: the order of launch()'s parameters.
template <class T>
constexpr int rank_of = static_cast<int>(T::role_of);
template <>
constexpr int rank_of<WeightTable> = static_cast<int>(Role::weight);

template <class... T>
constexpr bool in_order(const std::tuple<T...>*) {
  int last = 0;
  bool ok = true;
  ((ok = ok && rank_of<T> >= last, last = rank_of<T>), ...);
  return ok;
}

template <class... T>
constexpr bool has_table(const std::tuple<T...>*) {
  return (std::is_same_v<T, WeightTable> || ...);
}

inline void append(std::vector<TensorSpec>& specs, TensorSpec spec) {
  specs.push_back(std::move(spec));
}
inline void append(std::vector<TensorSpec>& specs, WeightTable table) {
  for (TensorSpec& spec : table.specs) specs.push_back(std::move(spec));
}

// Hands reference() its next argument; `next` walks over the flat list of tensors.
template <class T>
Tensor take(const T&, const std::vector<Tensor>& tensors, size_t& next) {
  return tensors.at(next++);
}
inline NamedTensors take(const WeightTable& table, const std::vector<Tensor>& tensors,
                         size_t& next) {
  std::vector<std::string> names;
  std::vector<Tensor> values;
  for (const TensorSpec& spec : table.specs) {
    if (spec.role == Role::unread) continue;
    names.push_back(spec.name);
    values.push_back(tensors.at(next++));
  }
  return {std::move(names), std::move(values)};
}

inline std::vector<Tensor> to_vector(Tensor t) { return {std::move(t)}; }
template <class... T>
std::vector<Tensor> to_vector(std::tuple<T...> outputs) {
  return std::apply([](auto&&... t) { return std::vector<Tensor>{std::move(t)...}; },
                    std::move(outputs));
}

template <class... T>
struct Checked;
template <class... T>
struct Checked<std::tuple<T...>> {
  template <class Launch, class Reference>
  static constexpr void check() {
    using Sizes = typename LaunchTraits<Launch>::Sizes;
    using Wanted = typename LaunchOf<Sizes, typename Concat<Parameter, T...>::type>::type;
    static_assert(in_order(static_cast<std::tuple<T...>*>(nullptr)),
                  "tensors() must list inputs, then weights, then unread buffers, then outputs");
    static_assert(std::is_same_v<Launch, Wanted>,
                  "task::launch in task.h must take const Sizes&, then one const pointer per input "
                  "and weight and one pointer per output of tensors() in that order and of those "
                  "element types, then cudaStream_t");
    static_assert(Callable<Reference, Sizes, typename Concat<Argument, T...>::type>::value,
                  "reference() must take const Sizes&, then one Tensor per input and weight of "
                  "tensors() (const NamedTensors& for a WeightTable)");
  }
};

}  // namespace detail

/// Builds a task from its parts and checks at compile time that they fit each other.
/// @tparam Launch   decltype(task::launch)
/// @param category  upstream's kind of operator
/// @param tensors   Sizes -> std::tuple of input(), weight(), unread_buffer(), output(),
/// WeightTable
/// @param reference upstream's forward on ATen: (Sizes, Tensor...) -> Tensor or std::tuple of them
/// @param sets      smoke and odd sizes
template <class Launch, class Tensors, class Reference,
          class Sizes = typename detail::LaunchTraits<Launch>::Sizes>
Task define(std::string category, Tensors tensors, Reference reference,
            const SizeSets<Sizes>& sets) {
  using Declared = std::invoke_result_t<Tensors, const Sizes&>;
  detail::Checked<Declared>::template check<Launch, Reference>();

  Task task;
  task.name = KB_TASK_NAME;
  task.category = std::move(category);
  task.fields = size_fields<Sizes>();
  task.smoke = size_bytes(sets.smoke);
  task.odd = size_bytes(sets.odd);
  task.full = size_bytes(Sizes{});
  task.weight_table = detail::has_table(static_cast<Declared*>(nullptr));
  task.tensors = [tensors](const SizeBytes& bytes) {
    std::vector<TensorSpec> specs;
    std::apply([&](auto&&... t) { (detail::append(specs, std::move(t)), ...); },
               tensors(sizes_from<Sizes>(bytes)));
    return specs;
  };
  task.reference = [tensors, reference](const SizeBytes& bytes, const std::vector<Tensor>& given) {
    const Sizes& sizes = sizes_from<Sizes>(bytes);
    size_t next = 0;
    // Only inputs and weights become arguments; braces fix the order of evaluation.
    auto argument = [&](const auto& spec) {
      using T = std::decay_t<decltype(spec)>;
      if constexpr (detail::rank_of<T> <= static_cast<int>(Role::weight)) {
        return std::tuple{detail::take(spec, given, next)};
      } else {
        return std::tuple<>{};
      }
    };
    auto nested = std::apply(
        [&](const auto&... t) { return std::tuple<decltype(argument(t))...>{argument(t)...}; },
        tensors(sizes));
    auto arguments = std::apply([](auto&... t) { return std::tuple_cat(std::move(t)...); }, nested);
    return detail::to_vector(
        std::apply([&](const auto&... a) { return reference(sizes, a...); }, arguments));
  };
  return task;
}

}  // namespace kb
