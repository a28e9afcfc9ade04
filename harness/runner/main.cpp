// kb_runner: a small process that loads one candidate and obeys a judge. Started by judges only;
// with --isolation it says which layers hold on this machine.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "protocol/serve.h"
#include "runner/candidate.h"
#include "runner/sandbox.h"

int main(int argc, char** argv) {
  kb::protocol::Isolation isolation = kb::runner::enter_sandbox();
  if (argc == 2 && std::strcmp(argv[1], "--isolation") == 0) {
    kb::runner::close_sandbox(isolation);
    std::puts(kb::protocol::to_string(isolation).c_str());
    return 0;
  }
  // Into a pipe, text would wait in a buffer that nobody empties when the process is killed.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  kb::protocol::Page& page = kb::protocol::inherited_page();
  try {
    kb::runner::Candidate candidate;
    kb::runner::close_sandbox(isolation);
    candidate.set_isolation(isolation);
    kb::protocol::serve(page, candidate);
  } catch (const kb::protocol::Failure& failure) {
    kb::protocol::refuse(page, failure);
  }
  // Candidates' destructors and atexit handlers are not run: nothing they do could matter.
  _exit(0);
}
