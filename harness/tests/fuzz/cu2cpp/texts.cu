const char* raw = R"kernel(<<<1, 2>>> # 7 "x")kernel" "a\"b" u8"\\";
auto c = '\'' + L'x' + 1'000'000 + 0x1p-3 + .5e+7f;
namespace a::b { template <class T, class = decltype(T{}())> struct alignas(16) S { T v[2]; }; }
auto f = [] __device__(int i) mutable -> int { return i >> 1 << 2; };
#pragma unroll 4
class C { __shared__ static int n; __host__ __device__ C() : n_{1} {} int n_; };
