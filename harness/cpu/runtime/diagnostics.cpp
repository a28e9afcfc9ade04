// Reports and errors. The last line of a report about a failure is one self-contained sentence,
// because it becomes the evidence of a verdict.
#include "diagnostics.hpp"

#include <assert.h>  // NOLINT(modernize-deprecated-headers): ours, which declares assert_failed()

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <sstream>
#include <utility>

#include "settings.hpp"
#include "worker.hpp"

namespace kb::cpu {
namespace {

std::atomic<int> sticky{cudaSuccess};

}  // namespace

std::string place(Site site) {
  const char* slash = std::strrchr(site.file, '/');
  return std::string(slash ? slash + 1 : site.file) + ":" + std::to_string(site.line);
}

std::string triple(uint3 value) {
  return "(" + std::to_string(value.x) + "," + std::to_string(value.y) + "," +
         std::to_string(value.z) + ")";
}

std::string hex(unsigned value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

void report(const std::string& lines) {
  std::istringstream in(lines);
  std::string text;
  for (std::string line; std::getline(in, line);) text += "[kb-cpu] " + line + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

void warn_once(Site site, const std::string& sentence) {
  static std::mutex mutex;
  static std::set<std::pair<std::string, int>> known;
  const std::lock_guard lock(mutex);
  if (known.emplace(site.file, site.line).second) report("warning: " + sentence);
}

cudaError_t sticky_error() {
  return static_cast<cudaError_t>(sticky.load(std::memory_order_relaxed));
}
void set_sticky_error(cudaError_t error) { sticky.store(error, std::memory_order_relaxed); }

void fail(cudaError_t error, const std::string& sentence, const std::string& details) {
  Worker& worker = *Worker::active();
  int expected = cudaSuccess;
  // Other blocks may fail at the same time; as on a GPU, the first failure is the one that counts.
  if (!worker.launch().error.compare_exchange_strong(expected, error)) return;
  set_sticky_error(error);
  report(details + cudaGetErrorName(error) + " in " + worker.where() + ": " + sentence);
}

void fault(cudaError_t error, const std::string& sentence, const std::string& details) {
  fail(error, sentence, details);
  Worker::active()->abandon();
}

void host_misuse(const char* what, Site site) {
  report(std::string(what) + " was called on the host at " + place(site) +
         ", but it exists only in kernels");
  std::abort();
}

void divergent_barrier(Worker& worker, const char* what, Site first, Site second) {
  const std::string sentence = std::string("divergent barrier: threads of one block wait in ") +
                               what + " at " + place(first) + " and at " + place(second);
  if (settings().strict) fault(cudaErrorLaunchFailure, sentence);
  warn_once(second, sentence + ", in " + worker.where());
}

void warn_absent_source(unsigned lane, const char* what, Site site) {
  warn_once(site, std::string(what) + " at " + place(site) + " reads from lane " +
                      std::to_string(lane) + ", which takes no part: the value is undefined; in " +
                      Worker::active()->where());
}

void trap(const char* what, Site site) {
  if (!Worker::active()) host_misuse(what, site);
  fault(cudaErrorLaunchFailure, std::string(what) + " at " + place(site));
}

void assert_failed(const char* expression, const char* file, int line) {
  const std::string sentence =
      std::string("assertion `") + expression + "` failed at " + place({file, line});
  if (Worker::active()) fault(cudaErrorAssert, sentence);
  report(sentence);
  std::abort();
}

}  // namespace kb::cpu
