// Processes, files and the task that all tests of kb_cc share.
#include "workspace.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace kb::test {

namespace fs = std::filesystem;

const char* const good_candidate = R"(#include "task.h"
static int helper(int x) { return x + 1; }
int ordinary_name(int x) { return helper(x); }
void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t) {
  for (int64_t i = 0; i < s.n; ++i) y[i] = x[i] + ordinary_name(1);
}
)";

Words operator+(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

pid_t start_program(const Words& words, const Environment& environment, const fs::path& folder,
                    const fs::path& output_file) {
  const pid_t child = fork();
  if (child != 0) return child;
  for (char** entry = environ; *entry != nullptr;) {
    const std::string text = *entry;
    if (text.starts_with("KB_")) {
      unsetenv(text.substr(0, text.find('=')).c_str());
      entry = environ;
    } else {
      ++entry;
    }
  }
  for (const auto& [key, value] : environment) setenv(key.c_str(), value.c_str(), 1);
  const int output = open(output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (chdir(folder.c_str()) != 0) _exit(126);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

Ending wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error(std::string("waitpid: ") + std::strerror(errno));
  }
  Ending run;
  if (WIFSIGNALED(status)) run.signal = WTERMSIG(status);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

Workspace::Workspace() {
  std::string pattern = (fs::temp_directory_path() / "kb_build_test.XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot create " + pattern);
  root_ = fs::canonical(pattern);
  fs::create_directory(path("obj"));
  write(
      "src/task.h",
      "#pragma once\n#include <kb/contract.h>\nnamespace task {\nstruct Sizes { int64_t n = 4; };\n"
      "void launch(const Sizes& s, const float* x, float* y, cudaStream_t stream);\n}\n");
  write("src/reference.cpp", "static const char* secret = \"the expected answer\";\n");
}

Workspace::~Workspace() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

std::string Workspace::write(const std::string& name, const std::string& content) const {
  fs::create_directories(path(name).parent_path());
  std::ofstream out(path(name), std::ios::binary);
  out << content;
  if (!out.flush()) throw std::runtime_error("cannot write " + path(name).string());
  return path(name);
}

std::string Workspace::read(const std::string& name) const {
  std::ifstream in(path(name), std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

std::string Workspace::write_script(const std::string& name, const std::string& body,
                                    bool broken) const {
  const std::string works = broken ? "" : "case \"$*\" in */nothing.*) exit 0 ;; esac\n";
  const std::string file = write(name, "#!/bin/sh\n" + works + body);
  fs::permissions(file, fs::perms::owner_all);
  return file;
}

Ending Workspace::run(const Words& words, const Environment& environment) const {
  const pid_t process = start_program(words, environment, root_, path("output.txt"));
  Ending run = wait_for(process);
  run.output = read("output.txt");
  return run;
}

Words Workspace::gxx_command() const {
  const std::string contract = KB_TEST_CONTRACT;
  return {KB_TEST_CXX,
          "-std=c++17",
          "-O1",
          "-fPIC",
          "-fvisibility=hidden",
          "-I" + contract + "/include",
          "-I" + path("src").string(),
          "-include",
          contract + "/entry.h",
          "-MD",
          "-MT",
          "obj/candidate.o",
          "-MF",
          "obj/candidate.o.d",
          "-x",
          "c++",
          "-o",
          "obj/candidate.o",
          "-c",
          path("src/candidate.cu")};
}

Words Workspace::nvcc_command() const {
  const std::string contract = KB_TEST_CONTRACT;
  return {KB_TEST_NVCC,
          "-forward-unknown-to-host-compiler",
          "-std=c++17",
          "--generate-code=arch=compute_90,code=[sm_90]",
          "-Xcompiler=-fPIC",
          "-Xcompiler=-fvisibility=hidden",
          "-Xptxas",
          "-v",
          "-cudart",
          "shared",
          "-I" + contract + "/include",
          "-I" + path("src").string(),
          "-include",
          contract + "/entry.h",
          "-MD",
          "-MT",
          "obj/candidate.o",
          "-MF",
          "obj/candidate.o.d",
          "-x",
          "cu",
          "-c",
          path("src/candidate.cu"),
          "-o",
          "obj/candidate.o"};
}

Words Workspace::visible() const {
  return {"--allow-read", KB_TEST_CONTRACT, "--allow-file", path("src/task.h")};
}

Words Workspace::kb_cc(const Words& compiler, const Words& more_options) const {
  return Words{KB_TEST_KB_CC, "--stub", KB_TEST_STUB} + visible() + more_options + Words{"--"} +
         compiler;
}

Ending Workspace::compile(const std::string& candidate, const Environment& environment) const {
  write("src/candidate.cu", candidate);
  return run(kb_cc(gxx_command()), environment);
}

nlohmann::json Workspace::record() const {
  const auto json = nlohmann::json::parse(read("obj/candidate.o.build.json"), nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << "no valid build.json";
  return json;
}

bool Workspace::object_is_stub() const {
  std::ifstream in(KB_TEST_STUB, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  return !content.str().empty() && content.str() == read("obj/candidate.o");
}

void Workspace::expect_recorded_failure(const Ending& run, const std::string& status) const {
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(record().value("status", ""), status) << record().dump(1);
  EXPECT_FALSE(record().value("reason", "").empty());
  EXPECT_TRUE(object_is_stub());
  EXPECT_FALSE(read("obj/candidate.o.d").empty());
}

}  // namespace kb::test
