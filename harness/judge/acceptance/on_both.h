// For functions that the host and the device call.
#pragma once

#ifdef __CUDACC__
#define KB_ON_BOTH __host__ __device__
#else
#define KB_ON_BOTH
#endif
