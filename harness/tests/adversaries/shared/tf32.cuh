// What a tensor core reads of a float.
#pragma once

/// Keeps the 10 bits of mantissa that a tensor core reads.
__device__ inline float tf32(float v) {
  unsigned bits;
  memcpy(&bits, &v, sizeof bits);
  bits = (bits + 0x1000u) & ~0x1FFFu;
  memcpy(&v, &bits, sizeof bits);
  return v;
}
