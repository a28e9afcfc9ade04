// kb_runner: a small process that loads one candidate and obeys a judge. Started by judges only;
// with --isolation it says which layers hold on this machine. --preload <file>: a vendor library
// that the candidate's run has declared. --control: it loads no candidate and computes nothing.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "protocol/serve.h"
#include "runner/candidate.h"
#include "runner/sandbox.h"

namespace {

// What the run has declared; a candidate's module only refers to it.
void preload(const std::vector<std::string>& libraries) {
  for (const std::string& library : libraries) {
    if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) continue;
    throw kb::protocol::Failure(kb::protocol::Status::load_failed, dlerror());
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> libraries;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--preload") == 0) libraries.emplace_back(argv[i + 1]);
  }
  kb::protocol::Isolation isolation = kb::runner::enter_sandbox(libraries);
  if (argc == 2 && std::strcmp(argv[1], "--isolation") == 0) {
    kb::runner::close_sandbox(isolation);
    std::puts(kb::protocol::to_string(isolation).c_str());
    return 0;
  }
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
