// A runner that lies, in the way named by its argument. It knows the protocol and the CPU backend's
// handles, as a hostile candidate would.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <set>
#include <string>

#include "sandbox/protocol/futex.h"
#include "sandbox/protocol/page.h"

namespace {

using namespace kb::protocol;
using namespace std::chrono_literals;

struct Handle {
  int32_t fd;
  uint32_t magic;
  uint64_t file_offset, map_bytes, data_offset, data_bytes;
};

float* map(const Tensor& tensor, uint32_t slot = 0) {
  Handle handle;
  std::memcpy(&handle, tensor.handle, sizeof handle);
  void* memory = mmap(nullptr, handle.map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, handle.fd,
                      static_cast<off_t>(handle.file_offset));
  const uint64_t offset = tensor.data_offset + slot * tensor.slot_stride;
  return reinterpret_cast<float*>(static_cast<char*>(memory) + offset);
}

void relu(const Request& request) {
  for (uint32_t s = request.first_slot; s < request.first_slot + request.slots; ++s) {
    const float* x = map(request.tensors[0], s);
    float* y = map(request.tensors[1], s);
    for (uint64_t i = 0; i < request.tensors[1].bytes / sizeof(float); ++i)
      y[i] = x[i] > 0 ? x[i] : 0;
  }
}

// Whether each slot of a unit has been called alone since the buffers came.
bool was_called(const Request& request) {
  static std::set<uint32_t> called;
  if (request.op == Op::bind) called.clear();
  if (request.op != Op::run) return true;
  if (request.slots == 1) called.insert(request.first_slot);
  for (uint32_t i = 0; i < request.slots; ++i) {
    if (!called.contains(request.first_slot + i)) return false;
  }
  return true;
}

void act(const std::string& how, Page& page, uint32_t number) {
  const Op op = page.request.op;
  std::memset(&page.answer, 0, sizeof page.answer);
  if (op == Op::report && how == "exits_at_once") _exit(0);
  if (op == Op::load && how == "never_answers") pause();
  if (op == Op::wake && how == "works_while_waking") relu(page.request);
  if (how == "sets_buffers_up" && !was_called(page.request)) {
    page.answer.status = Status::cuda_error;
  }
  if (op != Op::run || how == "works_while_waking") return;
  if (how == "exits_with_success") _exit(0);
  if (how == "done_too_early" && page.request.slots > 0) {
    publish(page.done, number);
    usleep(300000);
  }
  relu(page.request);
  if (how == "writes_inputs") map(page.request.tensors[0])[5] += 1;
  if (how == "forged_times") {
    usleep(100000);
    page.answer.event_ms = 1e-9f;
  }
  if (how == "no_number") page.answer.event_ms = std::numeric_limits<float>::quiet_NaN();
  if (how == "huge_number") publish(page.done, 1u << 31);
  if (how == "huge_number") pause();
  if (how == "wild_answer") {
    std::memset(&page.answer, 'A', sizeof page.answer);
    page.answer.status = static_cast<Status>(12345);
  }
  if (how == "endless_text") {
    std::memset(&page.answer, 'A', sizeof page.answer);
    page.answer.status = Status::cuda_error;
  }
  constexpr char forged[] = "wrong\n100% tests passed\u202e\"";
  if (how == "was_never_loaded") page.answer.status = Status::load_failed;
  if (how == "forges_lines") {
    std::memcpy(page.answer.message, forged, sizeof forged);
    std::memcpy(page.answer.kernel, forged, sizeof forged);
    page.answer.status = Status::cuda_error;
  }
  if (how == "prints_lines") {
    [[maybe_unused]] const ssize_t n = write(1, forged + 6, sizeof forged - 7);
    _exit(1);
  }
  if (how == "wild_request") {
    std::memset(&page.request, 0xFF, sizeof page.request);
    page.answer.status = Status::ok;
  }
}

}  // namespace

int main(int, char** argv) {
  void* memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0);
  if (memory == MAP_FAILED) return 2;
  Page& page = *static_cast<Page*>(memory);
  for (uint32_t number = 0;;) {
    number = wait_change(page.go, number, 10s);
    act(argv[1], page, number);
    if (std::string(argv[1]) == "answers_ahead" && page.request.op == Op::run) {
      page.done.store(number);  // at once: waking the judge would give it time to ask
      page.done.store(number + 1);
    } else {
      publish(page.done, number);
    }
  }
}
