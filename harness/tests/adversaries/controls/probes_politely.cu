// Does what libraries do when they look around, and goes on when it is told no.
// Task: level1/019_relu
// Expected: pass
#include "../shared/relu.cuh"

#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const int cores = [] {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    socket(AF_UNIX, SOCK_STREAM, 0);
    open("/tmp/kb_probe", O_RDWR | O_CREAT, 0600);
    getenv("HOME");
    return CPU_COUNT(&set);
  }();
  if (cores > 0) honest(s, x, y, stream);
}
