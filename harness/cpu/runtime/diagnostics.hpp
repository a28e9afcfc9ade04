// Reports on stderr, errors that stick, and the signal handler that turns a fault inside a kernel
// into a CUDA error.
#pragma once

#include <cudacpu/api.hpp>

#include <string>

namespace kb::cpu {

class Worker;

/// "file.cu:12", without directories.
std::string place(Site site);
/// "(1,2,3)"
std::string triple(uint3 value);
/// "0x0000ffff"
std::string hex(unsigned value);

/// Writes each line with the prefix "[kb-cpu] ", all in one system call.
void report(const std::string& lines);
/// Warns only the first time something is wrong at `site`.
void warn_once(Site site, const std::string& sentence);

/// Ends the launch that the calling thread works on: reports `details` and then, as the last line,
/// one sentence with the kernel, block and thread; the error sticks to the device.
void fail(cudaError_t error, const std::string& sentence, const std::string& details = "");
/// The same from within a CUDA thread, which does not continue.
[[noreturn]] void fault(cudaError_t error, const std::string& sentence,
                        const std::string& details = "");
/// A device function was called on the host.
[[noreturn]] void host_misuse(const char* what, Site site);
/// Threads of a block wait at different barriers: a warning, or a fault under KB_CPU_STRICT=1.
void divergent_barrier(Worker& worker, const char* what, Site first, Site second);

/// The error that every call returns after a kernel has failed.
cudaError_t sticky_error();
void set_sticky_error(cudaError_t error);

/// Installs the fault handler, and gives the calling OS thread the stack that it runs on.
void watch_faults();

}  // namespace kb::cpu
