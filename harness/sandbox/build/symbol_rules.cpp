// The name lists. A plain name is also a C++ variable of the global namespace, hence exact lists.
#include "sandbox/build/symbol_rules.h"

#include <algorithm>
#include <array>

namespace kb {
namespace {

using Name = std::string_view;

// What a judge or a measuring program calls in libc.
constexpr std::array<Name, 17> clock_names = {"clock",
                                              "clock_gettime",
                                              "clock_getres",
                                              "clock_settime",
                                              "clock_nanosleep",
                                              "clock_adjtime",
                                              "clock_getcpuclockid",
                                              "gettimeofday",
                                              "settimeofday",
                                              "time",
                                              "times",
                                              "timespec_get",
                                              "getrusage",
                                              "nanosleep",
                                              "usleep",
                                              "sleep",
                                              "ftime"};

constexpr std::array<Name, 12> loader_names = {
    "dlopen", "dlmopen", "dlsym",  "dlvsym",          "dlclose",         "dlerror",
    "dladdr", "dladdr1", "dlinfo", "dl_iterate_phdr", "_dl_find_object", "__libc_dlopen_mode"};

constexpr std::array<Name, 16> allocator_names = {
    "malloc",         "calloc",   "realloc",     "free",     "memalign",     "aligned_alloc",
    "posix_memalign", "valloc",   "pvalloc",     "cfree",    "reallocarray", "malloc_usable_size",
    "mallopt",        "mallinfo", "malloc_trim", "mallinfo2"};

// Loading code at run time. Closing, error texts and address look-ups load nothing.
constexpr std::array<Name, 6> run_time_loading = {
    "dlopen", "dlmopen", "dlsym", "dlvsym", "__libc_dlopen_mode", "__libc_dlsym"};

constexpr std::array<Name, 27> process_control = {"fork",
                                                  "vfork",
                                                  "_Fork",
                                                  "clone",
                                                  "execv",
                                                  "execve",
                                                  "execvp",
                                                  "execvpe",
                                                  "execl",
                                                  "execlp",
                                                  "execle",
                                                  "execveat",
                                                  "fexecve",
                                                  "posix_spawn",
                                                  "posix_spawnp",
                                                  "system",
                                                  "popen",
                                                  "daemon",
                                                  "ptrace",
                                                  "process_vm_readv",
                                                  "process_vm_writev",
                                                  "pidfd_open",
                                                  "pidfd_getfd",
                                                  "kill",
                                                  "killpg",
                                                  "tgkill",
                                                  "pidfd_send_signal"};

constexpr std::array<Name, 5> harness_namespaces = {"testing", "benchmark", "at", "c10", "torch"};

// Host libraries of the CUDA toolkit beyond the runtime that no policy opens up.
constexpr std::array<Name, 8> other_vendor_libraries = {"cufft", "cusparse",  "cusolver", "curand",
                                                        "nvrtc", "nvJitLink", "nvml",     "nccl"};

template <class Array>
bool contains(const Array& array, Name name) {
  return std::find(array.begin(), array.end(), name) != array.end();
}

bool upper_after(Name symbol, Name prefix) {
  return symbol.size() > prefix.size() && symbol.starts_with(prefix) &&
         symbol[prefix.size()] >= 'A' && symbol[prefix.size()] <= 'Z';
}

// The replaceable forms of operator new and delete. Placement forms with own arguments are not.
bool is_global_new_or_delete(Name symbol) {
  for (const Name start : {"_Znwm", "_Znam"}) {
    if (!symbol.starts_with(start)) continue;
    const Name rest = symbol.substr(start.size());
    return rest.empty() || rest == "RKSt9nothrow_t" || rest.starts_with("St11align_val_t");
  }
  for (const Name start : {"_ZdlPv", "_ZdaPv"}) {
    if (!symbol.starts_with(start)) continue;
    const Name rest = symbol.substr(start.size());
    return rest.empty() || rest == "m" || rest == "RKSt9nothrow_t" ||
           rest.starts_with("St11align_val_t") || rest.starts_with("mSt11align_val_t");
  }
  return false;
}

}  // namespace

std::optional<LibraryPolicy> parse_library_policy(Name text) {
  for (const auto policy : {LibraryPolicy::none, LibraryPolicy::cublas, LibraryPolicy::cudnn}) {
    if (text == library_policy_name(policy)) return policy;
  }
  return std::nullopt;
}

Name library_policy_name(LibraryPolicy policy) {
  switch (policy) {
    case LibraryPolicy::none:
      return "none";
    case LibraryPolicy::cublas:
      return "cublas";
    case LibraryPolicy::cudnn:
      return "cudnn";
  }
  return "none";
}

bool in_namespace(Name symbol, Name name) {
  if (!symbol.starts_with("_Z")) return false;
  symbol.remove_prefix(2);
  // Tables, type information, guards and thunks carry the name of what they belong to.
  for (const Name special : {"TV", "TT", "TI", "TS", "GV", "TW", "TH"}) {
    if (symbol.starts_with(special)) {
      symbol.remove_prefix(2);
      break;
    }
  }
  if (symbol.starts_with('Z')) symbol.remove_prefix(1);  // local entity of a function
  if (!symbol.starts_with('N')) return false;
  symbol.remove_prefix(1);
  const size_t start = symbol.find_first_not_of("rVKRO");  // qualifiers of a member function
  if (start == Name::npos) return false;
  return symbol.substr(start).starts_with(std::to_string(name.size()) + std::string(name));
}

std::optional<std::string> forbidden_definition(Name symbol, bool weak) {
  if (symbol == "main") return "but it is a library: the harness has the only main";
  if (contains(clock_names, symbol)) return "a name of libc's clocks";
  if (contains(loader_names, symbol)) return "a name of the dynamic loader";
  if (contains(allocator_names, symbol)) return "a name of libc's allocator";
  if (is_global_new_or_delete(symbol)) return "which replaces C++'s global allocation functions";
  if (upper_after(symbol, "cuda") || upper_after(symbol, "cu")) {
    return "a name of the CUDA runtime or driver";
  }
  if (symbol.starts_with("kb_") && symbol != "kb_launch" && symbol != "kb_prepare") {
    return "a name of the harness";
  }
  for (const Name library : harness_namespaces) {
    if (in_namespace(symbol, library)) {
      return "which belongs to namespace " + std::string(library) + " of another library";
    }
  }
  if (weak) return std::nullopt;
  // The toolkit's own headers define nvtx functions weakly in every object that uses CUB.
  if (upper_after(symbol, "nv") || symbol.starts_with("nvtx") || symbol.starts_with("nvml") ||
      symbol.starts_with("nvrtc") || upper_after(symbol, "cublas") ||
      upper_after(symbol, "cudnn")) {
    return "a name of NVIDIA's libraries";
  }
  if (upper_after(symbol, "__cuda") && !symbol.starts_with("__cudaRegisterLinkedBinary")) {
    return "a name of the CUDA runtime or driver";
  }
  return std::nullopt;
}

std::optional<std::string> forbidden_import(Name symbol, LibraryPolicy policy) {
  if (contains(run_time_loading, symbol)) {
    // A declared vendor library may be loaded lazily; without one there is nothing to load.
    if (policy == LibraryPolicy::none) return "loads a library at run time";
    return std::nullopt;
  }
  if (contains(process_control, symbol)) return "starts or controls another process";
  if (symbol.starts_with("cublas") && policy < LibraryPolicy::cublas) return "uses cuBLAS";
  if (symbol.starts_with("cudnn") && policy < LibraryPolicy::cudnn) return "uses cuDNN";
  for (const Name library : other_vendor_libraries) {
    if (symbol.starts_with(library)) return "uses " + std::string(library);
  }
  for (const Name library : {Name("at"), Name("c10"), Name("torch")}) {
    if (in_namespace(symbol, library)) return "uses PyTorch";
  }
  return std::nullopt;
}

}  // namespace kb
