// Answers each request under its own number; what goes wrong becomes the answer.
#include "sandbox/protocol/serve.h"

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "sandbox/protocol/futex.h"

namespace kb::protocol {
namespace {

void copy_text(char* to, size_t size, const std::string& from) {
  std::snprintf(to, size, "%s", from.c_str());
}

// What is left of an earlier answer's texts lies behind their ends. Little is written: the judge's
// clock is running.
void clear(Answer& answer) {
  answer.status = Status::ok;
  answer.layers_wanted = answer.layers_held = 0;
  answer.event_ms = answer.off_stream_ms = 0;
  answer.prepared = 0;
  answer.held_bytes = 0;
  answer.message[0] = answer.kernel[0] = '\0';
}

void write_failure(Answer& answer, const Failure& failure, const std::string& kernel) {
  answer.status = failure.status;
  copy_text(answer.message, sizeof answer.message, failure.what());
  copy_text(answer.kernel, sizeof answer.kernel, kernel);
}

void write_times(Answer& answer, const OwnTimes& times) {
  answer.event_ms = times.event;
  answer.off_stream_ms = times.off_stream;
}

void write_prepared(Answer& answer, const Prepared& prepared) {
  answer.prepared = prepared.own ? 1 : 0;
  answer.held_bytes = prepared.held_bytes;
}

void act(const Request& request, Answer& answer, Executor& executor) {
  switch (request.op) {
    case Op::report:
      answer.layers_wanted = executor.isolation().wanted;
      answer.layers_held = executor.isolation().held;
      return;
    case Op::load:
      return executor.load();
    case Op::bind:
      return executor.bind(request);
    case Op::prepare:
      return write_prepared(answer, executor.prepare());
    case Op::run:
      return write_times(answer, executor.run(request.first_slot, request.slots));
    case Op::capture:
      return executor.capture(request.first_slot, request.slots);
    case Op::replay:
      return write_times(answer, executor.replay());
    case Op::wake:
      return executor.wake();
    case Op::warm:
      return executor.warm();
    case Op::none:
      return;
  }
  throw Failure(Status::protocol_error, "unknown request");
}

uint32_t next_request(Page& page, uint32_t last) {
  using namespace std::chrono_literals;
  static const pid_t parent = getppid();
  while (true) {
    const uint32_t go = wait_change(page.go, last, 2s);
    if (go != last) return go;
    if (getppid() != parent) _exit(0);  // the judge is gone; nobody will ever ask again
  }
}

}  // namespace

std::string thrown() {
  try {
    throw;
  } catch (const std::exception& error) {
    try {
      return error.what();  // which may be the thrower's code, too
    } catch (...) {
      return "";
    }
  } catch (...) {
    return "";
  }
}

Page& inherited_page() {
  void* memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0);
  if (memory == MAP_FAILED || static_cast<Page*>(memory)->version != version) {
    std::fprintf(stderr, "kb_runner is started by a judge, not by hand\n");
    _exit(2);
  }
  close(page_fd);
  return *static_cast<Page*>(memory);
}

void serve(Page& page, Executor& executor) {
  uint32_t number = page.done.load();
  while (true) {
    number = next_request(page, number);
    Answer& answer = page.answer;
    clear(answer);
    try {
      act(page.request, answer, executor);
    } catch (const Failure& failure) {
      write_failure(answer, failure, executor.last_kernel());
    } catch (abi::__forced_unwind&) {
      throw;  // the end of this thread
    } catch (...) {
      write_failure(answer, Failure(Status::exception, thrown()), executor.last_kernel());
    }
    publish(page.done, number);
  }
}

void refuse(Page& page, const Failure& failure) {
  const uint32_t number = next_request(page, page.done.load());
  clear(page.answer);
  write_failure(page.answer, failure, "");
  publish(page.done, number);
}

}  // namespace kb::protocol
