// CUDA's built-in vector types and dim3 as plain C++ structs with CUDA's sizes and alignments.
#pragma once
#pragma GCC system_header

#include <cstddef>
#include <cstdint>

#include "qualifiers.hpp"

#define KB_VECTOR_TYPES(name, T, align2, align4)                                           \
  struct name##1 {                                                                         \
    T x;                                                                                   \
  };                                                                                       \
  struct alignas(align2) name##2 {                                                         \
    T x, y;                                                                                \
  };                                                                                       \
  struct name##3 {                                                                         \
    T x, y, z;                                                                             \
  };                                                                                       \
  struct alignas(align4) name##4 {                                                         \
    T x, y, z, w;                                                                          \
  };                                                                                       \
  KB_DEVICE_FUNCTION constexpr name##1 make_##name##1(T x) { return {x}; }                 \
  KB_DEVICE_FUNCTION constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  KB_DEVICE_FUNCTION constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  KB_DEVICE_FUNCTION constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

KB_VECTOR_TYPES(char, signed char, 2, 4)
KB_VECTOR_TYPES(uchar, unsigned char, 2, 4)
KB_VECTOR_TYPES(short, short, 4, 8)
KB_VECTOR_TYPES(ushort, unsigned short, 4, 8)
KB_VECTOR_TYPES(int, int, 8, 16)
KB_VECTOR_TYPES(uint, unsigned int, 8, 16)
KB_VECTOR_TYPES(long, long, 16, 16)
KB_VECTOR_TYPES(ulong, unsigned long, 16, 16)
KB_VECTOR_TYPES(longlong, long long, 16, 16)
KB_VECTOR_TYPES(ulonglong, unsigned long long, 16, 16)
KB_VECTOR_TYPES(float, float, 8, 16)
KB_VECTOR_TYPES(double, double, 16, 16)

struct dim3 {
  unsigned int x, y, z;
  KB_DEVICE_FUNCTION constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  KB_DEVICE_FUNCTION constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  KB_DEVICE_FUNCTION constexpr operator uint3() const { return {x, y, z}; }
};
