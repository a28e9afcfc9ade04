// Runs the compiler, judges how it ended, and leaves an object, a depfile and a record in any case.
#include "sandbox/build/compilation.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/files.h"
#include "base/landlock.h"
#include "base/printable.h"
#include "base/sha256.h"
#include "base/supervise.h"
#include "sandbox/build/build_record.h"
#include "sandbox/build/demangler.h"
#include "sandbox/build/diagnostics.h"
#include "sandbox/build/module_audit.h"
#include "sandbox/build/object_audit.h"
#include "sandbox/build/ptxas.h"
#include "sandbox/build/source_check.h"
#include "sandbox/build/source_text.h"
#include "sandbox/build/toolchain.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr size_t replayed_lines = 20;
constexpr size_t longest_reason = 600;
constexpr size_t longest_source = 4 << 20;
constexpr int nvcc_gave_up = 255;  // how it passes an error of ptxas on; no signal has this number

/// One compiler run: how it ended and what it said.
struct CompilerRun {
  Outcome outcome;
  std::string diagnostics;
  std::vector<KernelResources> resources;
  BuildStatus status = BuildStatus::ok;
  std::string reason;
};

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

std::string mebibytes_text(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

bool mentions(const std::string& text, std::initializer_list<std::string_view> phrases) {
  return std::any_of(phrases.begin(), phrases.end(), [&](std::string_view phrase) {
    return text.find(phrase) != std::string::npos;
  });
}

// True for "error:", "error  :" and "error #20:" but not for "errors.hpp".
bool announces_error(std::string_view line) {
  for (size_t at = line.find("error"); at != std::string_view::npos;
       at = line.find("error", at + 1)) {
    const size_t next = line.find_first_not_of(' ', at + 5);
    if (next != std::string_view::npos && (line[next] == ':' || line[next] == '#')) return true;
  }
  return false;
}

// A text without the name of a folder: one of temporary files has another name in every run.
std::string without_folder(std::string_view line, const std::string& folder) {
  std::string text(line);
  for (size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at)) {
    text.erase(at, folder.size());
  }
  return text;
}

// What a reason says that none of the lines above it does, such as advice; nothing if they say it.
std::string not_said_above(const std::string& reason, std::string_view lines) {
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    if (!line.empty() && reason.starts_with(line)) return reason.substr(line.size());
    if (line.starts_with(reason)) return "";  // a reason is shorter than a long line
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return ": " + reason;
}

bool announces_unsupported(std::string_view line) {
  return line.find(": unsupported on the CPU backend: ") != std::string_view::npos;
}

// The first line of this kind, else the last line; at most 300 bytes of it.
std::string telling_line(const std::string& text, bool (*is_telling)(std::string_view)) {
  std::string_view rest = text;
  std::string_view line;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (end > 0) line = rest.substr(0, end);
    if (is_telling(line)) break;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::string(first_bytes(line, 300));
}

// What to say about the commonest mistakes of generators, else nothing.
std::string advice(const std::string& said, const std::vector<std::string>& words) {
  if (mentions(said, {"No such file"}) &&
      mentions(said, {"torch/", "ATen/", "c10/", "pybind11/", "Python.h"})) {
    return " (there are no Torch headers: task::launch gets raw device pointers, see task.h)";
  }
  const bool halves = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "-DKB_CONTRACT_FP16" || word == "-DKB_CONTRACT_BF16";
  });
  if (halves && mentions(said, {"kb::real", "task::launch", "task::prepare"})) {
    return " (under this precision contract the tensors in task.h hold kb::real, 16-bit numbers: a "
           "kernel says kb::real where it now says float)";
  }
  return "";
}

// A compiler that may write less than the settings say has met the caller's limit.
void require_file_size(uint64_t bytes) {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_max >= bytes) return;
  throw std::runtime_error("a compiler has met this shell's limit of file sizes, " +
                           std::to_string(limit.rlim_max >> 10) +
                           " KiB: raise it (ulimit -f unlimited), or set KB_COMPILE_OUTPUT to it");
}

// Fills in status and reason. The text is a candidate's to choose, so it may only pick between
// different ways of having failed.
void classify(CompilerRun* run, const std::vector<std::string>& words, const Settings& settings,
              bool uses_cu2cpp, double spent_before_s) {
  const Outcome& outcome = run->outcome;
  const std::string& text = run->diagnostics;
  const auto set = [run](BuildStatus status, std::string reason) {
    run->status = status;
    run->reason = std::move(reason);
  };
  const std::string said = telling_line(text, announces_error);
  if (outcome.timed_out) {
    const double allowed = settings.timeout_s - spent_before_s;
    const bool first = spent_before_s == 0;
    set(BuildStatus::timeout,
        "the compiler was stopped after " + seconds_text(std::max(0.0, allowed)) +
            (first ? "" : ": those of one kernel may take " + seconds_text(settings.timeout_s)));
  } else if (outcome.over_memory) {
    set(BuildStatus::out_of_memory,
        "the compiler used more than " + mebibytes_text(settings.memory_bytes));
  } else if (outcome.exit_code == 0) {
    set(BuildStatus::ok, "");
  } else if (uses_cu2cpp && outcome.exit_code == 3) {
    set(BuildStatus::unsupported, telling_line(text, announces_unsupported));
  } else if (outcome.peak_bytes > settings.memory_bytes / 2 &&
             mentions(text,
                      {"out of memory", "bad_alloc", "memory exhausted", "Cannot allocate"})) {
    set(BuildStatus::out_of_memory,
        "the compiler ran into the limit of " + mebibytes_text(settings.memory_bytes));
  } else if (outcome.exit_code == 128 + SIGKILL ||
             mentions(text, {"Killed signal terminated program", "died due to signal 9 "})) {
    set(BuildStatus::out_of_memory, "the compiler was killed, as it is where memory runs out");
  } else if (outcome.signal == SIGXFSZ ||
             mentions(text, {"File size limit exceeded", "File too large", "signal 25"})) {
    require_file_size(settings.output_bytes);
    set(BuildStatus::compile_error,
        "the compiler wrote a file larger than " + mebibytes_text(settings.output_bytes));
  } else if ((outcome.exit_code > 128 && outcome.exit_code != nvcc_gave_up) ||
             (outcome.exit_code == 4 && mentions(text, {"internal"})) ||
             mentions(text, {"died due to signal", "signal terminated program"})) {
    set(BuildStatus::crash,
        said.empty() ? "the compiler was ended by signal " + std::to_string(outcome.exit_code - 128)
                     : said);
  } else {
    set(BuildStatus::compile_error,
        said.empty() ? "the compiler failed with exit code " + std::to_string(outcome.exit_code)
                     : said + advice(said, words));
  }
}

class Compilation {
 public:
  Compilation(const Options& options, const CompileCommand& command, const Settings& settings)
      : options_(options),
        command_(command),
        settings_(settings),
        record_path_(command.object + ".build.json") {}

  int run() {
    // A record must never stand beside an object that it does not describe.
    remove_file(record_path_);
    remove_file(command_.object);
    describe_command();
    prepare_sandbox();
    CompilerRun run = refuse_text();
    if (run.status == BuildStatus::ok) compile(&run);
    if (run.status != BuildStatus::ok) stop_if_disk_is_full();
    record(run);
    if (run.status != BuildStatus::ok) replace_object();
    complete_depfile();
    write_file_atomically(record_path_, to_json(record_));
    replay(run);
    if (sandbox_fd_ >= 0) close(sandbox_fd_);
    if (run.status == BuildStatus::ok || !settings_.strict) return 0;
    return run.outcome.exit_code != 0 ? run.outcome.exit_code : 1;
  }

 private:
  // What compilers would only stumble over, or take for true where it should not be.
  CompilerRun refuse_text() const {
    CompilerRun run;
    const auto refuse = [&](BuildStatus status, const std::string& reason) {
      run.status = status;
      run.reason = reason;
      run.diagnostics = reason + "\n";
    };
    if (!source_) {
      refuse(BuildStatus::compile_error,
             "the source is a pipe or a device: put a file of CUDA C++ in its place");
    } else if (source_->size() > longest_source) {
      refuse(BuildStatus::compile_error,
             "the source is larger than " + mebibytes_text(longest_source));
    } else if (const std::string_view encoding = foreign_encoding(*source_); !encoding.empty()) {
      refuse(BuildStatus::compile_error,
             "the source is " + std::string(encoding) + " text: save it as UTF-8");
    } else if (const auto line = line_directive(*source_);
               line && !options_.allow_line_directives) {
      refuse(BuildStatus::policy_violation,
             "line " + std::to_string(*line) +
                 " of the source says that what follows is another line or file (#line, or # and "
                 "a number), so that messages would name the wrong place: remove it");
    }
    return run;
  }

  void compile(CompilerRun* compiled) {
    CompilerRun& run = *compiled;
    run = run_compiler(command_.words, command_.uses_cu2cpp());
    keep_compiled(command_.object, &run.resources);
    refuse_undeclared_headers(&run);
    if (run.status == BuildStatus::ok) audit(&run);
    if (run.status == BuildStatus::ok && !options_.link.empty()) try_link(&run);
    if (!options_.cuda_check.empty()) {
      check_cuda_syntax(&run);
      refuse_undeclared_headers(&run);
    } else if (run.status == BuildStatus::ok) {
      read_sass(command_.object, &run.resources);
    }
  }

  void describe_command() {
    record_.source = command_.source;
    record_.command = command_.words;
    record_.compiler = command_.compiler_name();
    record_.library = library_policy_name(options_.library);
    for (const HeaderFolder& headers : options_.headers) record_.headers.push_back(headers.name);
    std::error_code error;
    if (fs::is_other(fs::status(command_.source, error))) return;
    source_ = read_text(command_.source);
    record_.source_sha256 = sha256_hex(*source_);
  }

  void prepare_sandbox() {
    SandboxRules& rules = rules_;
    allow_toolchain(command_, &rules);
    for (const auto* words : {&options_.cuda_check, &options_.link}) {
      if (words->empty()) continue;
      CompileCommand further;
      further.words = *words;
      allow_toolchain(further, &rules);
    }
    if (!options_.cuobjdump.empty()) {
      const fs::path program(options_.cuobjdump);  // calls the disassembler beside it
      rules.read_files.push_back(program);
      rules.read_files.push_back(program.parent_path() / "nvdisasm");
    }
    rules.read_files.push_back(command_.source);
    for (const std::string& file : command_.read_files) rules.read_files.push_back(file);
    for (const std::string& file : options_.allow_files) rules.read_files.push_back(file);
    for (const std::string& folder : options_.allow_read) rules.read_directories.push_back(folder);
    for (const HeaderFolder& headers : options_.headers) {
      rules.read_directories.push_back(headers.folder);
    }
    rules.write_directories.push_back(folder_of(command_.object));
    if (!command_.depfile.empty()) rules.write_directories.push_back(folder_of(command_.depfile));
    rules.write_directories.push_back(temporary_.path());
    if (settings_.sandbox == SandboxMode::off) return;
    if (landlock_available()) {
      sandbox_fd_ = make_sandbox(rules);
      record_.compile_sandbox = "landlock";
    } else if (settings_.sandbox == SandboxMode::required) {
      throw std::runtime_error("KB_COMPILE_SANDBOX=landlock, but this kernel has no Landlock");
    }
  }

  // nvcc's programs crash now and then on sources that they compile at other times, so a crash
  // counts only if it happens twice.
  CompilerRun run_compiler(const std::vector<std::string>& words, bool uses_cu2cpp) {
    CompilerRun run = run_compiler_once(words, uses_cu2cpp);
    if (run.status == BuildStatus::crash) run = run_compiler_once(words, uses_cu2cpp);
    if (run.status == BuildStatus::crash || run.status == BuildStatus::compile_error) {
      require_compiler(words, uses_cu2cpp);
    }
    return run;
  }

  // What fails for a source of which nothing can be wrong, too, is not the candidate's fault.
  void require_compiler(std::vector<std::string> words, bool uses_cu2cpp) {
    if (options_.stub.empty()) return;
    const fs::path nothing = temporary_.path() / "nothing";
    write_file_atomically(nothing.string() + ".cu", "// nothing\n");
    write_file_atomically(nothing.string() + ".o", read_text(options_.stub));  // for the linker
    const std::initializer_list<std::pair<std::string, const char*>> replaced{
        {command_.source, ".cu"},
        {check_object(), ".o"},
        {command_.object, ".o"},
        {command_.depfile, ".d"},
        {module_file(), ".so"}};
    for (std::string& word : words) {
      for (const auto& [file, suffix] : replaced) {
        if (file.empty() || !word.ends_with(file)) continue;
        word.replace(word.size() - file.size(), file.size(), nothing.string() + suffix);
        break;
      }
    }
    constexpr double enough_s = 30;  // of its own, whatever the candidate has spent
    const double spent_s = std::exchange(spent_s_, settings_.timeout_s - enough_s);
    const CompilerRun run = run_compiler_once(words, uses_cu2cpp);
    spent_s_ = spent_s;
    if (run.status == BuildStatus::ok) return;
    throw std::runtime_error(
        "nothing can be compiled here, not even an empty source: " + printable(run.reason) +
        "; nothing is recorded about " + command_.source);
  }

  CompilerRun run_compiler_once(const std::vector<std::string>& words, bool uses_cu2cpp) {
    CompilerRun run;
    PtxasReader ptxas;
    HeadAndTail kept;
    const double spent_before_s = spent_s_;
    run.outcome = run_program(words, [&](std::string_view line) {
      if (!ptxas.take(line)) kept.add(without_folder(line, temporary_.path().string() + "/"));
    });
    run.diagnostics = kept.text();
    run.resources = ptxas.kernels();
    classify(&run, words, settings_, uses_cu2cpp, spent_before_s);
    return run;
  }

  // Runs a program under the settings' limits, in the sandbox. The time is one for all programs of
  // a candidate: each of them may take what the others have left.
  Outcome run_program(const std::vector<std::string>& words,
                      std::function<void(std::string_view)> on_line) {
    LineSplitter lines(std::move(on_line));
    Launch launch;
    launch.words = words;
    launch.temporary_directory = temporary_.path();
    launch.timeout_s = settings_.timeout_s - spent_s_;
    launch.memory_bytes = settings_.memory_bytes;
    launch.file_bytes = settings_.output_bytes;
    launch.sandbox_fd = sandbox_fd_;
    launch.compiles = true;
    Outcome outcome;
    if (launch.timeout_s <= 0) {
      outcome.timed_out = true;
      outcome.exit_code = 128 + SIGKILL;
      return outcome;
    }
    outcome =
        run_supervised(launch, signals_, [&](std::string_view bytes) { lines.append(bytes); });
    spent_s_ += outcome.seconds;
    remove_preprocessed();
    if (outcome.interrupted_by != 0) end_interrupted(outcome.interrupted_by);
    lines.finish();
    return outcome;
  }

  // cu2cpp does so itself unless it is killed. The file may be as large as the settings allow.
  void remove_preprocessed() const {
    if (!command_.uses_cu2cpp() || std::getenv("KB_CPU_KEEP")) return;
    unlink((command_.object + ".ii").c_str());
  }

  // Whatever a compiler starts may print lines like those of ptxas.
  static void keep_compiled(const std::string& object, std::vector<KernelResources>* kernels) {
    if (kernels->empty()) return;
    std::error_code error;
    const bool readable = fs::file_size(object, error) <= ModulePolicy{}.max_bytes && !error;
    keep_named(readable ? read_text(object) : "", kernels);
  }

  // Facts for the author, never a verdict: whatever goes wrong here leaves them out.
  void read_sass(const std::string& object, std::vector<KernelResources>* kernels) {
    if (options_.cuobjdump.empty() || kernels->empty()) return;
    SassReader sass;
    try {
      const Outcome outcome = run_program({options_.cuobjdump, "-sass", object},
                                          [&](std::string_view line) { sass.take(line); });
      if (outcome.exit_code != 0) return;
    } catch (const std::runtime_error&) {
      return;  // it cannot be started
    }
    for (KernelResources& kernel : *kernels) {
      const auto found = sass.kernels().find(kernel.kernel);
      if (found != sass.kernels().end()) kernel.sass = found->second;
    }
  }

  std::string module_file() const { return (temporary_.path() / "module.so").string(); }
  std::string check_object() const { return command_.object + ".cuda_check.o"; }

  // Leaves nothing half done and dies the way the build tool expects.
  [[noreturn]] void end_interrupted(int signal) {
    unlink(command_.object.c_str());
    unlink(check_object().c_str());
    std::error_code ignored;
    fs::remove_all(temporary_.path(), ignored);
    std::signal(signal, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    raise(signal);
    _exit(128 + signal);
  }

  // Whatever else is wrong with it, the author has to know that a declaration is missing.
  void refuse_undeclared_headers(CompilerRun* run) const {
    const auto problem = undeclared_header(options_.undeclared, command_, run->diagnostics);
    if (!problem) return;
    run->status = BuildStatus::policy_violation;
    run->reason = *problem;
  }

  void audit(CompilerRun* run) {
    std::error_code error;
    record_.object_bytes = fs::file_size(command_.object, error);
    if (error) {
      run->status = BuildStatus::compile_error;
      run->reason = "the compiler reported success but wrote no object";
      return;
    }
    if (refuse_larger(command_.object, "object", run)) return;
    if (sandbox_fd_ < 0) {
      if (const auto problem = check_source(command_, rules_)) {
        run->status = BuildStatus::compile_error;
        run->reason = *problem;
        return;
      }
    }
    const ObjectAudit audit = audit_object(command_.object);
    record_.static_constructors = audit.static_constructors;
    if (!audit.problem) return;
    run->status = BuildStatus::compile_error;
    run->reason = *audit.problem;
  }

  // What the module's audit would refuse need not lie on everybody's disk until then.
  static bool refuse_larger(const fs::path& file, const std::string& what, CompilerRun* run) {
    const uint64_t most = ModulePolicy{}.max_bytes;
    std::error_code error;
    const uint64_t bytes = fs::file_size(file, error);
    if (error || bytes <= most) return false;
    run->status = BuildStatus::policy_violation;
    run->reason = "candidate's " + what + " has " + std::to_string(bytes) +
                  " bytes, more than the " + std::to_string(most) + " that are allowed";
    return true;
  }

  // A module that cannot be linked would stop everybody's build.
  void try_link(CompilerRun* run) {
    std::vector<std::string> words = options_.link;
    const std::string module = module_file();
    words.insert(words.end(), {command_.object, "-o", module});
    CompilerRun link = run_compiler(words, false);
    const bool too_large = refuse_larger(module, "module", run);
    remove_file(module);
    if (too_large || link.status == BuildStatus::ok) return;
    run->diagnostics = link.diagnostics;
    run->status = link.status;
    run->reason = "it does not link: " + link.reason;
  }

  // On the CPU route: is it CUDA at all? g++ accepts things in the rewritten source that nvcc does
  // not, and the other way round. clang reads the same headers as g++, so it can refuse what g++
  // accepts but says nothing new about what g++ does not.
  void check_cuda_syntax(CompilerRun* run) {
    for (const BuildStatus decided :
         {BuildStatus::timeout, BuildStatus::out_of_memory, BuildStatus::policy_violation}) {
      if (run->status == decided) return;
    }
    // cu2cpp has found what nvcc refuses only where it makes machine code: no check knows better.
    constexpr int exceeds_device = 5;
    if (command_.uses_cu2cpp() && run->outcome.exit_code == exceeds_device) return;
    const bool clang = base_name(options_.cuda_check.front()).starts_with("clang");
    if (clang && run->status != BuildStatus::ok) return;
    const std::string object = check_object();
    std::vector<std::string> words = options_.cuda_check;
    // nvcc leaves some errors to its host compiler (-cuda stops before it), and g++ has found one.
    if (run->status != BuildStatus::ok) {
      std::replace(words.begin(), words.end(), std::string("-cuda"), std::string("-c"));
    }
    words.push_back(command_.source);
    if (!clang) words.insert(words.end(), {"-o", object});
    const bool unsupported = run->status == BuildStatus::unsupported;
    if (unsupported) words.emplace_back("-rdc=true");  // nvcc wants it for launches inside kernels
    CompilerRun check = run_compiler(words, false);
    // Without the library that the CPU route refuses nvcc cannot tell either.
    if (unsupported && mentions(check.diagnostics, {"No such file or directory"})) return;
    keep_compiled(object, &check.resources);
    if (check.status == BuildStatus::ok) read_sass(object, &check.resources);
    remove_file(object);
    run->resources = check.resources;
    if (check.status == BuildStatus::ok) {
      record_.cuda_syntax = clang ? "clang" : "ok";
      if (run->status == BuildStatus::compile_error && run->outcome.exit_code != 0) {
        // The candidate is valid CUDA; what is missing is on our side.
        run->status = BuildStatus::unsupported;
        run->reason =
            "nvcc accepts the source, the CPU backend's compiler does not: " + run->reason;
      }
      return;
    }
    record_.cuda_syntax = "failed";
    run->outcome.exit_code = check.outcome.exit_code;
    run->outcome.signal = check.outcome.signal;
    run->diagnostics = check.diagnostics;
    run->status = check.status;
    run->reason = check.reason;
  }

  // A full disk makes any compiler fail: that says nothing about the candidate.
  void stop_if_disk_is_full() const {
    for (const fs::path& folder : {folder_of(command_.object), temporary_.path()}) {
      if (disk_full(folder)) {
        throw std::runtime_error("no space left in " + folder.string() +
                                 "; nothing is recorded about " + command_.source);
      }
    }
  }

  void record(const CompilerRun& run) {
    record_.status = run.status;
    // Paths and words of the candidate's may be in it.
    record_.reason = first_bytes(printable(run.reason), longest_reason);
    record_.exit_code = run.outcome.exit_code;
    record_.signal = run.outcome.signal;
    record_.seconds = run.outcome.seconds;
    record_.cpu_seconds = run.outcome.cpu_seconds;
    record_.spent_seconds = spent_s_;
    record_.left_seconds = std::max(0.0, settings_.timeout_s - spent_s_);
    record_.peak_bytes = run.outcome.peak_bytes;
    record_.diagnostics = run.diagnostics;
    record_.resources = run.resources;
    name_kernels();
    if (run.status != BuildStatus::ok) record_.object_bytes = 0;
  }

  void name_kernels() {
    std::vector<std::string> names;
    for (const KernelResources& kernel : record_.resources) names.push_back(kernel.kernel);
    names = demangled(names);
    for (size_t i = 0; i < names.size(); ++i) record_.resources[i].kernel = names[i];
  }

  void replace_object() {
    remove_file(command_.object);
    if (settings_.strict || options_.stub.empty()) return;
    write_file_atomically(command_.object, read_text(options_.stub));
  }

  // Ninja rebuilds an output for ever whose depfile is missing or empty.
  void complete_depfile() {
    if (command_.depfile.empty()) return;
    std::error_code error;
    if (fs::file_size(command_.depfile, error) > 0 && !error) return;
    write_file_atomically(command_.depfile, make_rule());
  }

  std::string make_rule() const {
    const auto escaped = [](const std::string& path) {
      std::string text;
      for (const char c : path) {
        if (c == ' ' || c == '#' || c == '\\') text += '\\';
        if (c == '$') text += '$';
        text += c;
      }
      return text;
    };
    const std::string target =
        command_.depfile_target.empty() ? escaped(command_.object) : command_.depfile_target;
    return target + ": " + escaped(command_.source) + "\n";
  }

  // What the terminal shows: the compiler's messages once, with paths below the root.
  void replay(const CompilerRun& run) const {
    const std::string root = options_.root.empty() ? "" : options_.root + "/";
    const auto shown = [&root](std::string_view text) {
      return root.empty() ? std::string(text) : without_folder(text, root);
    };
    const std::string above = shown(first_lines(run.diagnostics, replayed_lines));
    // As a whole: without a folder's name its neighbours may be a tag of CTest's.
    std::string text = marked_lines(above);
    if (first_lines(run.diagnostics, replayed_lines).size() < run.diagnostics.size()) {
      text += "[more in " + record_path_ + "]\n";
    }
    if (run.status != BuildStatus::ok) {
      text += printable("kb_cc: " + shown(command_.source) + ": " +
                        std::string(status_name(run.status)) +
                        not_said_above(shown(record_.reason), above)) +
              "\n";
    }
    std::fwrite(text.data(), 1, text.size(), stderr);
  }

  const Options& options_;
  const CompileCommand& command_;
  const Settings& settings_;
  std::string record_path_;
  std::optional<std::string> source_;  ///< its text; none if it is no file
  TemporaryDirectory temporary_;
  SignalRouter signals_;
  SandboxRules rules_;
  BuildRecord record_;
  double spent_s_ = 0;  ///< by all programs together
  int sandbox_fd_ = -1;
};

}  // namespace

int compile_candidate(const Options& options, const CompileCommand& command,
                      const Settings& settings) {
  return Compilation(options, command, settings).run();
}

}  // namespace kb
