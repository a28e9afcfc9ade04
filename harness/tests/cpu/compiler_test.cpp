// The compiler launcher: what it refuses and where, the files it writes, and what the syntax check
// with clang rejects.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "run_command.h"

namespace {

using kb::test::environment;
using kb::test::Outcome;
using kb::test::run_command;

class Compiler : public testing::Test {
 protected:
  std::string write(const std::string& source) {
    std::ofstream(folder_ + "/k.cu") << source;
    return folder_ + "/k.cu";
  }
  Outcome compile(const std::string& source, const std::string& flags = "") {
    return run_command(environment("KB_CU2CPP") + " " + environment("KB_CXX") + " -std=c++17 " +
                       environment("KB_CPU_INCLUDES") + " " + flags + " -x c++ -c " +
                       write(source) + " -o " + folder_ + "/k.o -MD -MT k.o -MF " + folder_ +
                       "/k.d");
  }
  Outcome check(const std::string& source) { return check_file(write(source)); }
  Outcome check_file(const std::string& path) {
    return run_command(environment("KB_CLANG") + " " + environment("KB_SYNTAX_CHECK") +
                       " -fsyntax-only " + environment("KB_CPU_INCLUDES") + " " + path);
  }
  void expect_refused(const std::string& source, const std::string& place,
                      const std::string& what) {
    const Outcome outcome = compile(source);
    EXPECT_EQ(outcome.exit_code, 3) << outcome.output;
    EXPECT_NE(outcome.output.find(place + ": unsupported on the CPU backend: " + what),
              std::string::npos)
        << outcome.output;
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/k.o"));
  }

  const kb::TemporaryDirectory temporary_;
  const std::string folder_ = temporary_.path();
};

TEST_F(Compiler, WritesObjectAndDependencies) {
  std::ofstream(folder_ + "/part.h") << "__global__ void k(int* x) { x[threadIdx.x] = 1; }\n";
  const Outcome outcome =
      compile("#include \"part.h\"\nvoid f(int* x) { k<<<1, 2>>>(x); }\n", "-Wall -Wextra -Werror");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(outcome.output, "");
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/k.o"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/k.o.ii"));
  std::ifstream file(folder_ + "/k.d");
  const std::string dependencies((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(dependencies.rfind("k.o:", 0), 0u);
  EXPECT_NE(dependencies.find("part.h"), std::string::npos);
}

// What they name may be a pipe, whose opening waits, or a device that has no end.
TEST_F(Compiler, OpensNothingButFilesForLineMarkers) {
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& name : {pipe, std::string("/dev/zero"), std::string("/dev/urandom")}) {
    const Outcome outcome =
        compile("# 1000000000 \"" + name + "\"\nint a;\n# 1 \"" + folder_ +
                "/none.h\" 1\nint b;\n# 99999999999 \"" + name + "\" 2\nint c;\n");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  }
}

// Which may use what a kernel may not.
TEST_F(Compiler, TheSourceIsNoSystemHeader) {
  const std::string inside = "void f() { asm(\"nop\"); }\n";
  expect_refused("# 2 \"" + folder_ + "/k.cu\" 3\n" + inside, "k.cu:2", "inline PTX");
  for (const char* const self : {"__FILE__", "\"./k.cu\""}) {
    expect_refused("#ifndef AGAIN\n#define AGAIN\n#include " + std::string(self) +
                       "\n#else\n#pragma GCC system_header\n" + inside + "#endif\n",
                   "k.cu:6", "inline PTX");
  }
}

TEST_F(Compiler, ErrorsNameTheSourceLine) {
  const Outcome outcome =
      compile("__global__ void k(int* x) {\n  __shared__ int s[4];\n  s[0] = y;\n}\n");
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.exit_code, 3);
  EXPECT_NE(outcome.output.find("k.cu:3:"), std::string::npos) << outcome.output;
}

TEST_F(Compiler, RefusesMoreConstantMemoryThanAGpuHas) {
  const auto source = [](int floats) {
    return "template <int n> __constant__ float row[n];\n"
           "extern __constant__ float later[2];\n"
           "namespace { __constant__ float first[8192]; }\n"
           "static __device__ __constant__ float second[" +
           std::to_string(floats) +
           "];\n"
           "__constant__ float later[2];\n"
           "__global__ void k(float* x) { x[0] = row<3>[0] + first[1] + second[1] + later[1]; }\n"
           "void f(float* x) { k<<<1, 1>>>(x); }\n";
  };
  const Outcome fits = compile(source(8192 - 8), "-Wall -Wextra -Werror");
  EXPECT_EQ(fits.exit_code, 0) << fits.output;
  const Outcome exceeds = compile(source(8192));
  EXPECT_EQ(exceeds.exit_code, 5) << exceeds.output;
  EXPECT_NE(exceeds.output.find("k.cu: error: its __constant__ variables have 65544 bytes"),
            std::string::npos)
      << exceeds.output;
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/k.o"));
}

TEST_F(Compiler, LeavesQuotesWithoutPartnersToTheCompiler) {
  const std::string kernel = "__global__ void k(int* x) { x[0] = 1; }\n";
  for (const std::string& prose :
       {"Here's the kernel:\n" + kernel, "Say \"k:\n" + kernel, kernel + "That's all",
        kernel + "const char* text = \"\\", kernel + "auto x = R\"("}) {
    const Outcome outcome = compile(prose);
    EXPECT_EQ(outcome.exit_code, 1) << prose << outcome.output;
    EXPECT_NE(outcome.output.find("k.cu:"), std::string::npos) << outcome.output;
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/k.o.ii"));
  }
}

TEST_F(Compiler, PassesOtherCommandsThrough) {
  const Outcome outcome =
      run_command(environment("KB_CU2CPP") + " " + environment("KB_CXX") + " --version");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, run_command(environment("KB_CXX") + " --version").output);
}

// Blanks between the halves of an operator would break it; so would taking one half for the angle
// bracket or the assignment that it is not.
TEST_F(Compiler, AcceptsOperatorsInCudaSyntax) {
  std::string source =
      "#include <type_traits>\n"
      "struct P { int x; };\n"
      "template <bool, bool> struct Pair {};\n"
      "template <int A, int B> struct Size { enum { value = A * B }; };\n"
      "template <int N> __global__ std::enable_if_t<N != 3> k(int* x) { *x = N; }\n"
      "void f(int* x, int n, P* p) {\n";
  for (const char* configuration :
       {"1, 1 << 5", "(n >> 1), 1", "n <= 256 ? 256 : 512, 1", "n >= 256, 1", "n && 1, n || 1",
        "n != 3, n == 4", "n++, 1", "1, --n", "n += 1, 1", "n <<= 1, 1", "1, p->x", "n,1,0,0"})
    source += std::string("  k<4><<<") + configuration + ">>>(x);\n";
  source += "}\ntemplate <int N> __global__ void shared() {\n";
  int count = 0;
  for (const char* variable :
       {"float v[1 << 8]", "float v[N >> 1][N <= 32 ? 33 : 1]", "float v[N && 1]", "float v[N!=3]",
        "float v[N >= 2], w[N || 1]", "Pair<(N > 1), N != 3> v, w", "Pair<N <= 4, N >= 4> v, w[2]"})
    source += std::string("  { __shared__ ") + variable + "; }\n";
  source += "}\n";
  for (const char* bounds : {"1 << 8", "1 << 8, 2", "N >> 1, 2, 1", "N <= 32 ? 32 : 64, N >= 2",
                             "N != 3 && N < 5 ? 32 : 64, 1", "Size<N, 2>::value, 1"}) {
    const std::string attribute = std::string("__launch_bounds__(") + bounds + ")";
    const std::string begin = "template <int N> ", end = std::to_string(++count) + "() {}\n";
    source += begin + "__global__ void " + attribute + " behind" + end;
    source += begin + attribute + " __global__ void before" + end;
  }
  source += "void g() {\n  shared<4><<<1, 1>>>();\n";
  for (; count > 0; --count)
    for (const char* name : {"behind", "before"})
      source += "  " + (name + std::to_string(count)) + "<4><<<1, 1>>>();\n";
  const Outcome outcome = compile(source + "}\n", "-Wall -Wextra -Werror -Wno-unused-variable");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output << source;
}

TEST_F(Compiler, RefusesByNameAndLine) {
  expect_refused(
      "__global__ void k(int* x) {\n  asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(*x));\n}\n",
      "k.cu:2", "inline PTX");
  expect_refused("\n#include <cutlass/cutlass.h>\n", "k.cu:2", "CUTLASS");
  expect_refused("#include <cute/tensor.hpp>\n", "k.cu:1", "CuTe");
  expect_refused("\n#include <thrust/no_such_header.h>\n", "k.cu:2", "Thrust");
  expect_refused(
      "__global__ void k(float* x, cudaTextureObject_t t) {\n  *x = tex2D<float>(t, 0, 0);\n}\n",
      "k.cu:1", "textures");
  expect_refused(
      "__global__ void a(int* x) { *x = 1; }\n__global__ void b(int* x) {\n  a<<<1, 1>>>(x);\n}\n",
      "k.cu:3", "dynamic parallelism");
  expect_refused("__global__ void __cluster_dims__(2, 1, 1) k(int* x) { *x = 1; }\n", "k.cu:1",
                 "thread block clusters");
  expect_refused(
      "#include <cub/cub.cuh>\nsize_t f(int* x) {\n  size_t bytes = 0;\n"
      "  cub::DeviceReduce::Sum(nullptr, bytes, x, x, 1);\n  return bytes;\n}\n",
      "k.cu:4", "device-wide CUB");
}

// Generators include by habit. Only what is used of a library decides.
TEST_F(Compiler, AcceptsHeadersOfLibrariesThatNothingUses) {
  std::string source;
  for (const char* header :
       {"cublas_v2.h", "cublasLt.h", "cudnn.h", "curand.h", "curand_kernel.h", "cufft.h",
        "cusparse.h", "cusolverDn.h", "thrust/device_vector.h", "thrust/iterator/zip_iterator.h",
        "cuda/std/cmath", "cuda/barrier", "cuComplex.h", "cuda_fp8.h", "nvrtc.h",
        "nvtx3/nvToolsExt.h", "cub/device/device_reduce.cuh"})
    source += std::string("#include <") + header + ">\n";
  source += "__global__ void k(int* x) { *x = 1; }\n";
  const Outcome outcome = compile(source + "void f(int* x) { k<<<1, 1>>>(x); }\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(outcome.output, "");
}

TEST_F(Compiler, RefusesWhatIsUsedOfALibraryByName) {
  for (const auto& [header, use, what] :
       {std::array{"cublas_v2.h", "cublasHandle_t handle;\n", "cuBLAS (cublasHandle_t)"},
        std::array{"cublas_v2.h", "int x = CUBLAS_OP_N;\n", "cuBLAS (CUBLAS_OP_N)"},
        std::array{"curand_kernel.h", "__global__ void k(curandState* s) {}\n",
                   "cuRAND (curandState)"},
        std::array{"thrust/device_vector.h", "thrust::device_vector<int> v;\n", "Thrust (thrust)"},
        std::array{"thrust/device_vector.h", "using namespace thrust;\n", "Thrust (thrust)"},
        std::array{"cuda/std/cmath", "float f(float x) { return cuda::std::exp(x); }\n",
                   "libcu++ (cuda"},
        std::array{"cuda_fp8.h", "__nv_fp8_e4m3 x;\n", "8-bit floating point (__nv_fp8_e4m3)"},
        std::array{"cuComplex.h", "cuFloatComplex z;\n", "cuComplex (cuFloatComplex)"},
        std::array{"nvtx3/nvToolsExt.h", "void f() { nvtxDomainCreateA(0); }\n",
                   "this part of NVTX"}})
    expect_refused(std::string("#include <") + header + ">\n" + use, "k.cu:2", what);
}

TEST_F(Compiler, AcceptsMarksForProfilers) {
  EXPECT_EQ(compile("#include <nvtx3/nvToolsExt.h>\nint f() { nvtxRangePushA(\"a\"); return "
                    "nvtxRangePop(); }\n")
                .exit_code,
            0);
}

// As a formatter leaves them that does not know CUDA; nvcc accepts it.
TEST_F(Compiler, AcceptsLaunchesWithBrokenBrackets) {
  const std::string kernel =
      "template <class T> __global__ void k(T* x) { *x = 1; }\n"
      "template <class T> struct Box { enum { value = 1 }; };\n";
  for (const char* launch :
       {"k<< <1, 2>> >(x)", "k<int><< <1, 2> >>(x)", "k << < dim3(1), 2, 0, 0 > > >(x)",
        "k<< <1, Box<Box<int> >::value>> >(x)", "k<<<1, (1 << 2) >> 1>>>(x)",
        "k<<\n<1, 2>>\n>(x)"}) {
    const Outcome outcome = compile(kernel + "void f(int* x) {\n  " + launch + ";\n}\n");
    EXPECT_EQ(outcome.exit_code, 0) << launch << outcome.output;
  }
  const std::string shift =
      "struct S { template <class T> S& operator<< (T) { return *this; } };\n"
      "void f(S& s) { s.operator<< <int>(1); s << 1 << 2; }\n";
  EXPECT_EQ(compile(shift).exit_code, 0);
}

TEST_F(Compiler, RefusesWhatHostAndDeviceDeclareDifferently) {
  const std::string sizes =
      "#if __CUDA_ARCH__ >= 800\nconstexpr int n = 64;\n#else\nconstexpr int n = 32;\n#endif\n";
  expect_refused(sizes + "__global__ void k(int* x) { x[0] = n; }\n", "k.cu:2",
                 "declarations that depend on __CUDA_ARCH__");
  const std::string signatures =
      "#ifdef __CUDA_ARCH__\n__device__ int f(int x) {\n#else\nint f(int x) {\n#endif\n";
  expect_refused(signatures + "  return x;\n}\n", "k.cu:2",
                 "declarations that depend on __CUDA_ARCH__");
}

// Valid CUDA of which the layer knows nothing must not look like a candidate's mistake.
TEST_F(Compiler, RefusesUnknownNamesThatAreCudas) {
  expect_refused("void f() {\n  cudaDeviceFlushGPUDirectRDMAWrites(1, 1);\n}\n", "k.cu:2",
                 "cudaDeviceFlushGPUDirectRDMAWrites\n");
  expect_refused("cudaExternalMemory_t x;\n", "k.cu:1", "cudaExternalMemory_t\n");
  expect_refused(
      "template <class T> __device__ T f(T x) { return __vsadu4(x, x); }\nvoid g() { f(1); }\n",
      "k.cu:1", "__vsadu4\n");
  expect_refused("int f(cudaDeviceProp& p) { return p.tccDriver; }\n", "k.cu:1",
                 "cudaDeviceProp::tccDriver\n");
  expect_refused(
      "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
      "__device__ void f() { cg::binary_partition(cg::coalesced_threads(), true); }\n",
      "k.cu:3", "cg::binary_partition\n");
  expect_refused(
      "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
      "__device__ int f() {\n  auto t = cg::tiled_partition<64>(cg::this_thread_block());\n"
      "  return t.thread_rank();\n}\n",
      "k.cu:4", "tiles above a warp\n");
  expect_refused("#include <cub/cub.cuh>\ncub::CountingInputIterator<int> x(1);\n", "k.cu:2",
                 "cub::CountingInputIterator\n");
  for (const char* mistake :
       {"int f() { return cudafoo; }\n", "int f(float4 x) { return x.cudaW; }\n",
        "int f() { return blockIdy.x; }\n", "namespace mine {}\nint x = mine::cudaX;\n",
        "#error 'cudaX' was not declared\n", "void f() { cudaMalloc(); }\n"}) {
    const Outcome outcome = compile(mistake);
    EXPECT_EQ(outcome.exit_code, 1) << mistake << outcome.output;
  }
}

TEST_F(Compiler, TakesNoPrivateFunctionOfTheCLibraryForCudas) {
  expect_refused("__global__ void k(float* x) {\n  *x = __log1pf(*x);\n}\n", "k.cu:2",
                 "__log1pf\n");
  expect_refused("__global__ void k(double* x) { *x = __exp(*x); }\n", "k.cu:1", "__exp\n");
  for (const std::string& valid :
       {"__global__ void k(float* x) { *x = __logf(__expf(__cosf(*x))); }\n",
        "struct __attribute__((aligned(16))) Four { float x[4]; };\n",
        "__device__ float f(float __x, int __n) { return __x * (__n); }\n"}) {
    const Outcome outcome = compile(valid);
    EXPECT_EQ(outcome.exit_code, 0) << valid << outcome.output;
  }
}

TEST_F(Compiler, LeavesNamesAloneThatOnlyLookLikeCub) {
  EXPECT_EQ(compile("struct DeviceReduce {};\nDeviceReduce mine;\n").exit_code, 0);
}

TEST_F(Compiler, AcceptsEmptyAssembly) {
  EXPECT_EQ(compile("__global__ void k(int* x) { *x = 1; asm volatile(\"\" ::: \"memory\"); }\n")
                .exit_code,
            0);
}

TEST_F(Compiler, SyntaxCheckAcceptsValidCode) {
  if (environment("KB_CLANG").empty()) GTEST_SKIP() << "no clang++ on this machine";
  const Outcome outcome = check(
      "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cooperative_groups.h>\n#include "
      "<cub/cub.cuh>\n"
      "#include <mma.h>\n__constant__ float c[2];\n"
      "template <class T> __global__ void k(T* x) {\n  __shared__ T s[32];\n  extern __shared__ "
      "float d[];\n"
      "  s[threadIdx.x] = x[threadIdx.x] + T(c[0]);\n  __syncthreads();\n"
      "  x[threadIdx.x] = __shfl_xor_sync(~0u, s[31 - threadIdx.x], 1) + T(max(1, 2)) + "
      "T(expf(d[0]));\n"
      "  atomicAdd(x, T(1));\n}\nvoid f(float* x) { k<<<1, 32>>>(x); }\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
}

TEST_F(Compiler, SyntaxCheckAcceptsConformanceKernels) {
  if (environment("KB_CLANG").empty()) GTEST_SKIP() << "no clang++ on this machine";
  int sources = 0;
  for (const auto& entry : std::filesystem::directory_iterator(environment("KB_CONFORMANCE"))) {
    if (entry.path().extension() != ".cu") continue;
    const Outcome outcome = check_file(entry.path());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    ++sources;
  }
  EXPECT_GE(sources, 5);
}

TEST_F(Compiler, SyntaxCheckRejectsInvalidCuda) {
  if (environment("KB_CLANG").empty()) GTEST_SKIP() << "no clang++ on this machine";
  const char* invalid[] = {
      "int host(int x);\n__global__ void k(int* x) { *x = host(1); }\n",
      "__device__ int d() { return 1; }\nint f() { return d(); }\n",
      "void k(int* x) { *x = 1; }\nvoid f(int* x) { k<<<1, 1>>>(x); }\n",
      "__global__ void k(int* x) { *x = 1; }\nvoid f(int* x) { k(x); }\n",
      "__global__ int k(int* x) { return *x; }\n",
      "__global__ void k(int* x) { __shared__ int s[1024 / warpSize]; *x = s[0] = 1; }\n",
      "__global__ void k() { throw 1; }\nvoid f() { k<<<1, 1>>>(); }\n",
  };
  for (const char* source : invalid) EXPECT_NE(check(source).exit_code, 0) << source;
}

}  // namespace
