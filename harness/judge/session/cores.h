// Which cores judge and runners are pinned to.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace kb {

/// A core of its own for each: a thread that migrates is late by more than the differences that are
/// to be seen.
struct Cores {
  int judge, reference, candidate;
};

/// For the bench on the GPU at this position: other cores than those of the other GPUs' benches, as
/// long as there are enough; none if there are fewer than four.
std::optional<Cores> choose_cores(const std::vector<int>& allowed, size_t gpu);

/// The cores this process may use.
std::vector<int> allowed_cores();

/// Restricts a thread to these cores: the main one of a process, or the calling one.
void pin_to(const std::vector<int>& cores, pid_t process = 0);

}  // namespace kb
