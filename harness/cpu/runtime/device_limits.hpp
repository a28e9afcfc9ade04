// The device that the CPU layer presents: the limits of the chosen architecture where they decide
// whether a launch is valid, few multiprocessors so that persistent kernels stay small.
#pragma once

namespace kb::cpu::limits {

/// What differs between architectures (CUDA's programming guide, "Compute capabilities").
struct Architecture {
  int capability;                  ///< 10 * major + minor
  int shared_optin_kb;             ///< of a block that has asked for more than 48 KB
  int shared_reserved_kb;          ///< of each block, for the system
  int shared_kb, threads, blocks;  ///< of a multiprocessor
};
inline constexpr Architecture architectures[] = {
    {70, 96, 0, 96, 2048, 32},   {75, 64, 0, 64, 1024, 16},    {80, 163, 1, 164, 2048, 32},
    {86, 99, 1, 100, 1536, 16},  {87, 163, 1, 164, 1536, 16},  {89, 99, 1, 100, 1536, 24},
    {90, 227, 1, 228, 2048, 32}, {100, 227, 1, 228, 2048, 32}, {103, 227, 1, 228, 2048, 32},
    {120, 99, 1, 100, 1536, 24}, {121, 99, 1, 100, 1536, 24}};

constexpr Architecture find(int capability) {
  for (const Architecture& each : architectures)
    if (each.capability == capability) return each;
  return {};
}
inline constexpr Architecture chosen = find(KB_CPU_CAPABILITY);
static_assert(chosen.capability > 0,
              "the CPU layer does not know the limits of KB_CUDA_CHECK_ARCH: choose another "
              "architecture, or add its line here");

inline constexpr int threads_per_block = 1024;
inline constexpr int block_z = 64;
inline constexpr unsigned grid_x = 2147483647, grid_yz = 65535;
inline constexpr int shared_per_block = 48 * 1024;
inline constexpr int shared_per_block_optin = chosen.shared_optin_kb * 1024;
/// ptxas takes more than 48 KB of static shared memory for an architecture's own variant (sm_90a),
/// and refuses it for the portable one (sm_90). Such a kernel needs no permission at its launch.
inline constexpr int static_shared = KB_CPU_OWN_VARIANT ? shared_per_block_optin : shared_per_block;
inline constexpr int shared_per_multiprocessor = chosen.shared_kb * 1024;
inline constexpr int shared_reserved = chosen.shared_reserved_kb * 1024;
inline constexpr int threads_per_multiprocessor = chosen.threads;
inline constexpr int blocks_per_multiprocessor = chosen.blocks;
inline constexpr int constant_memory = 64 * 1024;
inline constexpr int registers = 65536;
inline constexpr int multiprocessors = 4;
inline constexpr int capability_major = chosen.capability / 10;
inline constexpr int capability_minor = chosen.capability % 10;

}  // namespace kb::cpu::limits
