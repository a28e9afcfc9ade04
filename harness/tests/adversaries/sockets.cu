// Asks the network, a local service or another process for the answer.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <sys/socket.h>

static bool escaped() {
  int pair[2];
  return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ||
         socket(AF_NETLINK, SOCK_RAW, 0) >= 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0;
}
