// kb_runner: a small process that loads one candidate and obeys a judge. Started by judges only.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "protocol/serve.h"
#include "runner/candidate.h"

namespace {

// Everything that needs no candidate happens before one is loaded.
void restrict_process() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  close_range(kb::protocol::module_fd + 1, ~0U, 0);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
}

}  // namespace

int main() {
  restrict_process();
  kb::protocol::Page& page = kb::protocol::inherited_page();
  try {
    kb::runner::Candidate candidate;
    kb::protocol::serve(page, candidate);
  } catch (const kb::protocol::Failure& failure) {
    kb::protocol::refuse(page, failure);
  }
  // Candidates' destructors and atexit handlers are not run: nothing they do could matter.
  _exit(0);
}
