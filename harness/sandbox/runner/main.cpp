// kb_runner: a small process that loads one candidate and obeys a judge. Started by judges only;
// with --isolation it says which layers hold on this machine. --preload <file>: a vendor library
// that the candidate's run has declared. --control: it loads no candidate and computes nothing.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "sandbox/protocol/serve.h"
#include "sandbox/runner/candidate.h"
#include "sandbox/runner/sandbox.h"

namespace {

// What the run has declared; a candidate's module only refers to it.
void preload(const std::vector<std::string>& libraries) {
  for (const std::string& library : libraries) {
    if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) continue;
    throw kb::protocol::Failure(kb::protocol::Status::load_failed, dlerror());
  }
}

// In the sandbox no file may be written, not even standard output where that is one.
int tell_isolation() {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);  // others are closed
    kb::protocol::Isolation isolation = kb::runner::enter_sandbox({});
    kb::runner::close_sandbox(isolation);
    const std::string text = kb::protocol::to_string(isolation);
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  char text[256];
  const ssize_t size = child < 0 ? -1 : read(ends[0], text, sizeof text);
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  if (size <= 0 || status != 0) return 1;
  return std::printf("%.*s\n", static_cast<int>(size), text) > 0 && std::fflush(stdout) == 0 ? 0
                                                                                             : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> libraries;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--preload") == 0) libraries.emplace_back(argv[i + 1]);
  }
  if (argc == 2 && std::strcmp(argv[1], "--isolation") == 0) return tell_isolation();
  kb::protocol::Isolation isolation = kb::runner::enter_sandbox(libraries);
  // Into a pipe, text would wait in a buffer that nobody empties when the process is killed.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  kb::protocol::Page& page = kb::protocol::inherited_page();
  try {
    preload(libraries);
    kb::runner::Candidate candidate(argc == 2 && std::strcmp(argv[1], "--control") == 0);
    kb::runner::close_sandbox(isolation);
    candidate.set_isolation(isolation);
    kb::protocol::serve(page, candidate);
  } catch (const kb::protocol::Failure& failure) {
    kb::protocol::refuse(page, failure);
  }
  // Candidates' destructors and atexit handlers are not run: nothing they do could matter.
  _exit(0);
}
