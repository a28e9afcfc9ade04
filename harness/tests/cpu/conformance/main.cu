// Runs the features named on the command line, or all: one line each, exit code 1 if any failed.
#include <cstring>

#include "conformance.h"

int main(int count, char** names) {
  int failed = 0, run = 0;
  for (auto* feature = conformance::features(); feature; feature = feature->next) {
    bool wanted = count == 1;
    for (int i = 1; i < count; ++i) wanted |= !std::strcmp(names[i], feature->name);
    if (!wanted) continue;
    conformance::failures() = 0;
    feature->run();
    ++run;
    failed += conformance::failures() > 0;
    std::printf("%-32s %s\n", feature->name, conformance::failures() ? "FAIL" : "ok");
    std::fflush(stdout);
  }
  std::printf("%d features, %d failed\n", run, failed);
  // A name that matches nothing is a failure of the test list.
  return failed > 0 || run == 0 || (count > 1 && run != count - 1);
}
