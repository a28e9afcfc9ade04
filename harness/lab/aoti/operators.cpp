// A task's reference as operators of PyTorch, for tools/export-aoti. A library for Python: it loads
// task libraries by path and shares PyTorch's own state.
//
//   kb::apply_contract(str contract) -> ()
//   kb::example(str library, str set, Device device, int rng_seed) -> (int[] sizes, Tensor[] given)
//   kb::describe_sizes(str library, int[] sizes) -> str            JSON, by name
//   kb::reference(str library, int[] sizes, Tensor[] given) -> Tensor[]   traced through
//   kb::check(str library, int[] sizes, Tensor[] given, Tensor[] outputs) -> str   "" if right
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/library.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "judge/acceptance/expectation.h"
#include "judge/acceptance/precision.h"
#include "reference/task_library.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using Tensors = std::vector<at::Tensor>;

Task open_task(const std::string& library) {
  const fs::path path(library);
  const std::optional<std::string> name = task_name(path);
  TORCH_CHECK(name, library, " is no levelN.NNN_slug.so of a task");
  return load_task(path.parent_path(), *name);
}

// Operators know no bytes.
SizeBytes to_bytes(at::IntArrayRef sizes) { return {sizes.begin(), sizes.end()}; }

std::tuple<std::vector<int64_t>, Tensors> example(const std::string& library,
                                                  const std::string& set, at::Device device,
                                                  int64_t rng_seed) {
  const Task task = open_task(library);
  TORCH_CHECK(set == "smoke" || set == "full", "no size set is called '", set, "' here");
  const SizeBytes& sizes = set == "smoke" ? task.smoke : task.full;
  return {{sizes.begin(), sizes.end()},
          task.example(sizes, device, static_cast<uint64_t>(rng_seed))};
}

std::string describe_sizes(const std::string& library, at::IntArrayRef sizes) {
  return open_task(library).fields.to_json(to_bytes(sizes)).dump();
}

Tensors reference(const std::string& library, at::IntArrayRef sizes, at::TensorList given) {
  return open_task(library).reference(to_bytes(sizes), given.vec());
}

std::string check(const std::string& library, at::IntArrayRef sizes, at::TensorList given,
                  at::TensorList outputs) {
  const at::NoGradGuard no_grad;
  Expectation right(open_task(library), to_bytes(sizes), given.vec(), /*noise_seed=*/1);
  TORCH_CHECK(outputs.size() == right.outputs().size(), "another number of outputs");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorSpec& spec = right.outputs()[i];
    if (outputs[i].sizes() != at::IntArrayRef(spec.shape) ||
        outputs[i].scalar_type() != spec.dtype) {
      return spec.name + " has another shape or type";
    }
    const Comparison c = right.compare(i, outputs[i].contiguous());
    if (c.worst) return describe_worst(spec, c);
  }
  return "";
}

}  // namespace
}  // namespace kb

TORCH_LIBRARY(kb, library) {
  library.def("apply_contract(str contract) -> ()", kb::apply_precision);
  library.def(
      "example(str library, str set, Device device, int rng_seed) -> (int[] sizes, Tensor[] given)",
      kb::example);
  library.def("describe_sizes(str library, int[] sizes) -> str", kb::describe_sizes);
  // Without a kernel of its own for any device: what it calls is what a tracer sees.
  library.def("reference(str library, int[] sizes, Tensor[] given) -> Tensor[]");
  library.impl("reference", c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(kb::reference));
  library.def("check(str library, int[] sizes, Tensor[] given, Tensor[] outputs) -> str",
              kb::check);
}
