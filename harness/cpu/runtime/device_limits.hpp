// The device that the CPU layer presents: limits of a current data-centre GPU where they decide
// whether a launch is valid, few multiprocessors so that persistent kernels stay small.
#pragma once

namespace kb::cpu::limits {

inline constexpr int threads_per_block = 1024;
inline constexpr int block_z = 64;
inline constexpr unsigned grid_x = 2147483647, grid_yz = 65535;
inline constexpr int shared_per_block = 48 * 1024;
inline constexpr int shared_per_block_optin = 227 * 1024;
inline constexpr int shared_per_multiprocessor = 228 * 1024;
inline constexpr int shared_reserved = 1024;
inline constexpr int threads_per_multiprocessor = 2048;
inline constexpr int blocks_per_multiprocessor = 32;
inline constexpr int registers = 65536;
inline constexpr int multiprocessors = 4;
inline constexpr int capability_major = 9, capability_minor = 0;

}  // namespace kb::cpu::limits
