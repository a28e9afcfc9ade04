// kb_reference: runs a task's reference on tensors that somebody else made, so that anyone can
// compare it with upstream's Python.
#include <ATen/core/grad_mode.h>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <map>
#include <optional>
#include <set>

#include "base/result/files.h"
#include "judge/acceptance/precision.h"
#include "lab/conformance/operator_list.h"
#include "reference/safetensors.h"
#include "reference/task_library.h"

namespace kb {
namespace {

struct Options {
  std::string task, operators, in, out, inputs = "default", device = "cpu",
                                        contract = build_contract;
  std::vector<std::string> sizes;
  std::optional<uint64_t> make_inputs;
  bool list = false;
};

// Tensor names in files: input.K, param.<name>, buffer.<name>, output or output.K.
struct NamedSpec {
  std::string name;
  TensorSpec spec;
};

std::vector<NamedSpec> file_names(const std::vector<TensorSpec>& specs) {
  int inputs = 0, outputs = 0, output_count = 0;
  for (const TensorSpec& spec : specs) output_count += spec.role == Role::output;
  std::vector<NamedSpec> named;
  for (const TensorSpec& spec : specs) {
    std::string name;
    if (spec.role == Role::input) {
      name = "input." + std::to_string(inputs++);
    } else if (spec.role == Role::output) {
      name = output_count == 1 ? "output" : "output." + std::to_string(outputs++);
    } else {
      name = (spec.buffer ? "buffer." : "param.") + spec.name;
    }
    named.push_back({std::move(name), spec});
  }
  return named;
}

Json describe(const NamedSpec& named) {
  Json json = {{"name", named.spec.name}, {"tensor", named.name}};
  if (named.spec.role == Role::weight || named.spec.role == Role::unread) {
    json["kind"] = named.spec.buffer ? "buffer" : "param";
    json["read"] = named.spec.role == Role::weight;
  }
  json["shape"] = named.spec.shape;
  json["dtype"] = dtype_name(named.spec.dtype);
  return json;
}

// What the task declares less of than is counted, at full size; null if nothing.
Json describe_least_work(const Task& task) {
  if (!task.least_work) return nullptr;
  const LeastWork least = task.least_work(task.full);
  return {{"bytes", least.bytes ? Json(*least.bytes) : Json()},
          {"flops", least.flops ? Json(*least.flops) : Json()}};
}

Json describe(const Task& task) {
  Json groups = {{"inputs", Json::array()}, {"weights", Json::array()}, {"outputs", Json::array()}};
  for (const NamedSpec& named : file_names(task.tensors(task.full))) {
    const char* group = named.spec.role == Role::input    ? "inputs"
                        : named.spec.role == Role::output ? "outputs"
                                                          : "weights";
    groups[group].push_back(describe(named));
  }
  Json json = {
      {"name", task.name},
      {"level", task.level()},
      {"slug", task.slug()},
      {"category", task.category},
      {"sizes", task.fields.to_json(task.full)},
      {"sets",
       {{"smoke", task.fields.to_json(task.smoke)}, {"odd", task.fields.to_json(task.odd)}}}};
  json.update(groups);
  json["least_work"] = describe_least_work(task);
  return json;
}

void list_tasks() {
  Json all = Json::array();
  for (const std::string& name : task_names(tasks_folder())) {
    all.push_back(describe(load_task(tasks_folder(), name)));
  }
  std::cout << all.dump(1) << std::endl;
  if (!std::cout) throw std::runtime_error("cannot write the list to standard output");
}

// The smallest integer of a size, which may hold several; nothing if it holds other numbers.
std::optional<int64_t> smallest(const Json& value) {
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_array() || value.empty() || !value[0].is_number_integer()) return std::nullopt;
  return std::ranges::min(value.get<std::vector<int64_t>>());
}

// No integer may be below what the task's own sets have of it, as long as that is 0 or 1: a
// reference may divide by a stride, but pads by nothing.
void check_integers(const Task& task, const SizeBytes& sizes) {
  const Json chosen = task.fields.to_json(sizes);
  for (const auto& [name, value] : chosen.items()) {
    const std::optional<int64_t> least = smallest(value);
    if (!least) continue;
    int64_t limit = 1;
    for (const SizeBytes* own : {&task.smoke, &task.odd, &task.full}) {
      limit = std::min(limit, *smallest(task.fields.to_json(*own)[name]));
    }
    if (*least < limit) {
      throw std::invalid_argument("size '" + name + "' must be at least " + std::to_string(limit) +
                                  ", not " + std::to_string(*least));
    }
  }
}

// All tensors together must fit into this machine's memory, so that nothing overflows later.
void check_tensors(const Task& task, const SizeBytes& sizes) {
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  double bytes = 0;
  for (const TensorSpec& spec : task.tensors(sizes)) {
    double here = static_cast<double>(c10::elementSize(spec.dtype));
    for (int64_t extent : spec.shape) {
      if (extent < 1) {
        throw std::invalid_argument("these sizes leave '" + spec.name +
                                    "' no elements; choose larger ones");
      }
      here *= static_cast<double>(extent);
    }
    bytes += here;
  }
  if (bytes > memory) {
    std::ostringstream text;
    text << std::setprecision(3) << "these sizes need " << bytes / 1e9
         << " GB for inputs and outputs, and this machine has " << memory / 1e9
         << " GB; choose smaller ones";
    throw std::invalid_argument(text.str());
  }
}

SizeBytes chosen_sizes(const Task& task, SizeBytes sizes,
                       const std::vector<std::string>& settings) {
  std::set<std::string> names;
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      throw std::invalid_argument("--size takes NAME=VALUE, not '" + setting + "'");
    }
    const std::string name = setting.substr(0, equals);
    if (!names.insert(name).second) {
      throw std::invalid_argument("--size " + name + " is given twice; give it once");
    }
    task.fields.set(sizes, name, setting.substr(equals + 1));
  }
  check_integers(task, sizes);
  check_tensors(task, sizes);
  return sizes;
}

at::Device chosen_device(const std::string& name) {
  const at::Device device(name);
  if (device.is_cuda() && !at::hasCUDA()) {
    throw std::invalid_argument("--device cuda needs a CUDA preset's build and a GPU");
  }
  return device.is_cuda() ? at::Device(at::kCUDA, 0) : device;
}

// As messages say it. Tasks have no uint8, but a file that somebody made may.
std::string type_text(at::ScalarType type) {
  return type == at::kByte ? "uint8" : dtype_name(type);
}

void check_tensor(const NamedSpec& wanted, const at::Tensor& given) {
  if (given.scalar_type() != wanted.spec.dtype) {
    throw std::invalid_argument("tensor '" + wanted.name + "' must be " +
                                dtype_name(wanted.spec.dtype) + ", not " +
                                type_text(given.scalar_type()));
  }
  if (given.sizes() != c10::IntArrayRef(wanted.spec.shape)) {
    std::ostringstream text;
    text << "tensor '" << wanted.name << "' must have the shape "
         << c10::IntArrayRef(wanted.spec.shape) << ", not " << given.sizes();
    throw std::invalid_argument(text.str());
  }
}

// Inputs and weights in reference()'s order.
std::vector<at::Tensor> read_arguments(const Options& options,
                                       const std::vector<NamedSpec>& specs) {
  std::map<std::string, at::Tensor> given = read_safetensors(options.in);
  const at::Device device = chosen_device(options.device);
  std::vector<at::Tensor> arguments;
  for (const NamedSpec& wanted : specs) {
    if (wanted.spec.role == Role::output) continue;
    const auto found = given.find(wanted.name);
    if (found == given.end()) {
      throw std::invalid_argument(options.in + " lacks the tensor '" + wanted.name + "'");
    }
    check_tensor(wanted, found->second);
    if (wanted.spec.role != Role::unread) arguments.push_back(found->second.to(device));
    given.erase(found);
  }
  if (!given.empty()) {
    throw std::invalid_argument(options.in + " has a tensor '" + given.begin()->first +
                                "' that the task does not declare");
  }
  return arguments;
}

// Sizes may be such that only LibTorch knows what is wrong with them.
std::vector<at::Tensor> call_reference(const Task& task, const SizeBytes& sizes,
                                       const std::vector<at::Tensor>& arguments) {
  try {
    return task.reference(sizes, arguments);
  } catch (const c10::Error& error) {
    const std::string why = error.what_without_backtrace();
    throw std::runtime_error("the reference cannot run with these sizes: " +
                             why.substr(0, why.find('\n')));
  }
}

void run_reference(const Options& options, const Task& task) {
  const SizeBytes sizes = chosen_sizes(task, task.full, options.sizes);
  const std::vector<NamedSpec> specs = file_names(task.tensors(sizes));
  const std::vector<at::Tensor> arguments = read_arguments(options, specs);
  const std::vector<at::Tensor> results = call_reference(task, sizes, arguments);
  std::vector<std::pair<std::string, at::Tensor>> outputs;
  for (const NamedSpec& named : specs) {
    if (named.spec.role != Role::output) continue;
    outputs.emplace_back(named.name, results.at(outputs.size()));
    check_tensor(named, outputs.back().second);
  }
  write_safetensors(options.out, outputs);
}

void print_operators(const Options& options) {
  const Task task = load_task(tasks_folder(), options.operators);
  std::cout << "[";
  const char* separator = "\n";
  for (const Json& line : list_operators(task, chosen_sizes(task, task.smoke, options.sizes))) {
    std::cout << separator << line.dump();
    separator = ",\n";
  }
  std::cout << "\n]" << std::endl;
  if (!std::cout) throw std::runtime_error("cannot write the operators to standard output");
}

// A sentence about a seed that a conversion would wrap around; empty if it is one.
std::string what_is_no_seed(const std::string& text) {
  uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  if (error == std::errc() && stop == end) return "";
  return "takes a whole number from 0 to 2^64 - 1, not '" + text + "'";
}

void make_inputs(const Options& options, const Task& task) {
  const SizeBytes sizes = chosen_sizes(task, task.full, options.sizes);
  const at::Device device = chosen_device(options.device);
  at::Generator rng = make_rng(device, *options.make_inputs);
  const InputKind inputs = options.inputs == "compat" ? InputKind::compat : InputKind::standard;
  std::vector<std::pair<std::string, at::Tensor>> made;
  for (const NamedSpec& named : file_names(task.tensors(sizes))) {
    if (named.spec.role == Role::output) continue;
    at::Tensor tensor =
        at::empty(named.spec.shape, at::TensorOptions(named.spec.dtype).device(device));
    named.spec.draw(tensor, inputs, rng);
    made.emplace_back(named.name, tensor);
  }
  write_safetensors(options.out, made);
}

// What would be ignored is refused: its user expects something of it.
void check_combination(const CLI::App& app) {
  const auto given = [&app](const char* name) { return app.count(name) > 0; };
  const auto refuse = [&](const char* name, const std::string& with) {
    if (given(name)) throw std::invalid_argument(with + "; leave out " + name);
  };
  if (given("--list")) {
    for (const char* name : {"--task", "--operators", "--size", "--in", "--out", "--make-inputs",
                             "--inputs", "--device", "--contract"}) {
      refuse(name, "--list prints every task and takes nothing else");
    }
  } else if (given("--operators")) {
    for (const char* name : {"--task", "--in", "--out", "--make-inputs", "--inputs", "--device"}) {
      refuse(name, "--operators takes a task, --size and --contract, and no file");
    }
  } else if (given("--make-inputs")) {
    refuse("--in", "--make-inputs reads no file");
    refuse("--contract", "--make-inputs computes nothing that a contract could bear on");
  } else {
    refuse("--inputs", "--inputs belongs to --make-inputs");
  }
}

int run(const Options& options) {
  if (options.list) {
    list_tasks();
    return 0;
  }
  const at::NoGradGuard no_grad;
  if (!options.operators.empty()) {
    require_element_type(options.contract);
    apply_precision(options.contract);
    print_operators(options);
    return 0;
  }
  if (options.task.empty()) {
    throw std::invalid_argument(
        "give --task levelN/NNN_slug, --operators levelN/NNN_slug, or --list");
  }
  const Task task = load_task(tasks_folder(), options.task);
  if (options.out.empty()) throw std::invalid_argument("give --out, the file to write");
  require_replaceable(options.out);
  require_element_type(options.contract);
  apply_precision(options.contract);
  if (options.make_inputs) {
    make_inputs(options, task);
  } else if (options.in.empty()) {
    throw std::invalid_argument("give --in, a file of tensors (or --make-inputs RNG_SEED)");
  } else {
    std::error_code missing;  // of which the one that reads will tell
    if (std::filesystem::equivalent(options.in, options.out, missing)) {
      throw std::invalid_argument("--out would replace the tensors of --in; name another file");
    }
    run_reference(options, task);
  }
  return 0;
}

}  // namespace
}  // namespace kb

int main(int argc, char** argv) {
  kb::Options options;
  CLI::App app(
      "Runs a task's reference on given tensors, makes inputs, or lists a call's operators or the "
      "tasks");
  app.add_option("--task", options.task, "levelN/NNN_slug");
  app.add_option("--operators", options.operators,
                 "levelN/NNN_slug: print the operators of one call as JSON, at smoke");
  app.add_option("--size", options.sizes, "NAME=VALUE, upstream's constant; once for each")
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--in", options.in, "safetensors: input.K, param.<name>, buffer.<name>");
  app.add_option("--out", options.out, "safetensors to write: output or output.K, or inputs");
  app.add_option("--make-inputs", options.make_inputs,
                 "write inputs and weights from this rng_seed")
      ->check(CLI::Validator(kb::what_is_no_seed, "SEED"));
  app.add_option("--inputs", options.inputs, "which values --make-inputs writes")
      ->check(CLI::IsMember({"default", "compat"}));
  app.add_option("--device", options.device, "where to compute")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--contract", options.contract, "precision contract")
      ->check(CLI::IsMember(kb::contract_names()));
  app.add_flag("--list", options.list, "print every task as JSON");
  CLI11_PARSE(app, argc, argv);
  try {
    kb::check_combination(app);
    return kb::run(options);
  } catch (const c10::Error& error) {
    std::cerr << "kb_reference: " << error.what_without_backtrace() << "\n";
  } catch (const std::exception& error) {
    std::cerr << "kb_reference: " << error.what() << "\n";
  }
  return 1;
}
