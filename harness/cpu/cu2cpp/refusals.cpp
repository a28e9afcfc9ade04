// The CUDA features that are refused by name, so that they never look like a candidate's mistake.
#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "named_file.hpp"
#include "rewrite.hpp"

namespace kb::cu2cpp {
namespace {

struct Refusal {
  std::string_view name;  ///< with a trailing '*': a prefix
  std::string_view what;
};

constexpr std::array identifiers{
    Refusal{"tex1D*", "textures"},
    Refusal{"tex2D*", "textures"},
    Refusal{"tex3D*", "textures"},
    Refusal{"texCubemap*", "textures"},
    Refusal{"surf1D*", "surfaces"},
    Refusal{"surf2D*", "surfaces"},
    Refusal{"surf3D*", "surfaces"},
    Refusal{"cudaTextureObject_t", "textures"},
    Refusal{"cudaSurfaceObject_t", "surfaces"},
    Refusal{"cudaCreateTextureObject", "textures"},
    Refusal{"cudaBindTexture*", "textures"},
    Refusal{"cudaMallocArray", "CUDA arrays"},
    Refusal{"cudaArray_t", "CUDA arrays"},
    Refusal{"__cluster_dims__", "thread block clusters"},
    Refusal{"this_cluster", "thread block clusters"},
    Refusal{"cluster_group", "thread block clusters"},
    Refusal{"__cluster_*", "thread block clusters"},
    Refusal{"CUtensorMap", "tensor maps (TMA)"},
    Refusal{"cuTensorMapEncode*", "tensor maps (TMA)"},
    Refusal{"cudaStreamTailLaunch", "dynamic parallelism"},
    Refusal{"cudaStreamFireAndForget", "dynamic parallelism"},
    Refusal{"cudaGraphAddKernelNode", "explicitly built graphs"},
    Refusal{"cudaGraphCreate", "explicitly built graphs"},
    Refusal{"cuLaunchKernel", "the driver API"},
    Refusal{"cuModuleLoad*", "the driver API"},
    Refusal{"nvrtcCreateProgram", "NVRTC"},
    Refusal{"__nvvm_*", "NVVM builtins"},
};

// Other members of the namespace cub that have no counterpart in include/cub are told by name.
constexpr std::array cub_members{Refusal{"Device*", "device-wide CUB"}};

constexpr std::array headers{
    Refusal{"cutlass/*", "CUTLASS"},
    Refusal{"cute/*", "CuTe"},
    Refusal{"thrust/*", "Thrust"},
    Refusal{"cuda/*", "libcu++"},
    Refusal{"nv/*", "libcu++"},
    Refusal{"cub/*", "this part of CUB"},
    Refusal{"cublas*", "cuBLAS"},
    Refusal{"cudnn*", "cuDNN"},
    Refusal{"curand*", "cuRAND"},
    Refusal{"cusparse*", "cuSPARSE"},
    Refusal{"cusolver*", "cuSOLVER"},
    Refusal{"cufft*", "cuFFT"},
    Refusal{"nvrtc*", "NVRTC"},
    Refusal{"cuda_fp8*", "8-bit floating point"},
    Refusal{"cuda_fp4*", "4-bit floating point"},
    Refusal{"cuda_fp6*", "6-bit floating point"},
    Refusal{"cuda_awbarrier*", "asynchronous barriers"},
    Refusal{"cudaTypedefs.h", "the driver API"},
    Refusal{"texture_*", "textures"},
    Refusal{"surface_*", "surfaces"},
    Refusal{"cooperative_groups/*", "this part of cooperative groups"},
};

// What only these libraries declare: their headers are empty here, so that a program that does not
// use them may include them.
constexpr std::array libraries{
    Refusal{"cublas*", "cuBLAS"},
    Refusal{"CUBLAS*", "cuBLAS"},
    Refusal{"cudnn*", "cuDNN"},
    Refusal{"CUDNN*", "cuDNN"},
    Refusal{"curand*", "cuRAND"},
    Refusal{"CURAND*", "cuRAND"},
    Refusal{"cusparse*", "cuSPARSE"},
    Refusal{"CUSPARSE*", "cuSPARSE"},
    Refusal{"cusolver*", "cuSOLVER"},
    Refusal{"CUSOLVER*", "cuSOLVER"},
    Refusal{"cufft*", "cuFFT"},
    Refusal{"CUFFT*", "cuFFT"},
    Refusal{"nvrtc*", "NVRTC"},
    Refusal{"NVRTC*", "NVRTC"},
    Refusal{"nvtx*", "this part of NVTX"},
    Refusal{"thrust", "Thrust"},
    Refusal{"thrust::*", "Thrust"},
    Refusal{"cuda", "libcu++"},
    Refusal{"cuda::*", "libcu++"},
    Refusal{"NV_IF_*", "libcu++"},
    Refusal{"NV_IS_*", "libcu++"},
    Refusal{"__nv_fp8*", "8-bit floating point"},
    Refusal{"__nv_fp6*", "6-bit floating point"},
    Refusal{"__nv_fp4*", "4-bit floating point"},
    Refusal{"cuComplex", "cuComplex"},
    Refusal{"cuFloatComplex", "cuComplex"},
    Refusal{"cuDoubleComplex", "cuComplex"},
    Refusal{"make_cuComplex", "cuComplex"},
    Refusal{"make_cuFloatComplex", "cuComplex"},
    Refusal{"make_cuDoubleComplex", "cuComplex"},
    Refusal{"cuC*", "cuComplex"},
};

bool matches(const Refusal& refusal, std::string_view name) {
  if (refusal.name.back() != '*') return name == refusal.name;
  return name.starts_with(refusal.name.substr(0, refusal.name.size() - 1));
}

// @return what the name belongs to, "" if nothing refuses it
std::string_view find(std::span<const Refusal> refusals, std::string_view name) {
  const auto found = std::find_if(refusals.begin(), refusals.end(),
                                  [&](const Refusal& refusal) { return matches(refusal, name); });
  return found == refusals.end() ? std::string_view() : found->what;
}

bool in_cuda_namespace(std::string_view name) {
  const std::string_view outermost = name.substr(0, name.find("::"));
  return outermost == "cooperative_groups" || outermost == "cg" || outermost == "cub" ||
         outermost == "nvcuda";
}

bool belongs_to_cuda(std::string_view name) {
  const bool of_runtime = name.starts_with("cuda") && name.size() > 4 && std::isupper(name[4]);
  return of_runtime || name.starts_with("CUDART_") || name.starts_with("__") ||
         in_cuda_namespace(name);
}

// The functions of math.h as glibc declares them: expf() and, beside it, the library's own
// __expf(). A kernel that calls the latter means CUDA's, and those that CUDA has are macros of the
// headers here.
std::set<std::string_view> math_functions(const Source& source) {
  const std::vector<Token>& tokens = source.tokens;
  std::set<std::string_view> names;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.system && token.kind == Kind::identifier && tokens[i + 1].is("(") &&
        source.files[token.file].ends_with("/bits/mathcalls.h"))
      names.insert(token.text);
  }
  return names;
}

}  // namespace

void refuse_unsupported_names(const Source& source) {
  const std::vector<Token>& tokens = source.tokens;
  const std::set<std::string_view> math = math_functions(source);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.system || token.kind != Kind::identifier) continue;
    const bool called = i + 1 < tokens.size() && tokens[i + 1].is("(");
    if (called && token.text.starts_with("__") && math.contains(token.text.substr(2)))
      throw Unsupported(source, token, std::string(token.text));
    const bool in_cub = i >= 2 && tokens[i - 1].is("::") && tokens[i - 2].is("cub");
    const std::string_view what =
        in_cub ? find(cub_members, token.text) : find(identifiers, token.text);
    if (what.empty()) continue;
    throw Unsupported(source, token, std::string(what) + " (" + std::string(token.text) + ")");
  }
}

void refuse_unsupported_headers(const Source& source) {
  for (const Include& include : source.includes) {
    if (include.system || include.line == 0) continue;
    const std::string line = line_of(source.files[include.file], include.line);
    const std::size_t open = line.find_first_of("<\"");
    if (open == std::string::npos) continue;
    const std::string name = line.substr(open + 1, line.find_first_of(">\"", open + 1) - open - 1);
    if (include.entered.ends_with("/absent/" + name)) continue;  // what is used of it will be told
    // The parts of CUB and cooperative groups that exist here are found first.
    if (name.starts_with("cub/") || name.starts_with("cooperative_groups/")) continue;
    if (const std::string_view what = find(headers, name); !what.empty())
      throw Unsupported(source, include.file, include.line, std::string(what) + " (" + name + ")");
  }
}

std::string missing_feature(const std::string& message) {
  static const std::regex header("(\\S+): No such file.*"),
      call("no matching function for call to '([^(]+).*"),
      refusal("static assertion failed: the CPU backend has no (.*)"),
      member("'(?:struct |class )?([^']+)'.* has no .*member named '([^']+)'.*"),
      scoped("'([^']+)' (?:is not a member of|in namespace|has not been declared in) '([^']+)'.*"),
      plain(
          "(?:there are no arguments to |use of enum )?'([^']+)' "
          "(?:was not declared|has not been declared|does not name|is not a namespace-name|"
          "that depend|without prev).*");
  const std::string text = message.substr(0, 1000);  // std::regex recurses with the length
  std::smatch names;
  if (std::regex_match(text, names, header)) {
    const std::string_view what = find(headers, names.str(1));
    return what.empty() ? "" : std::string(what) + " (" + names.str(1) + ")";
  }
  if (std::regex_match(text, names, refusal)) return names.str(1);
  if (std::regex_match(text, names, call) && in_cuda_namespace(names.str(1))) return names.str(1);
  if (std::regex_match(text, names, member) && belongs_to_cuda(names.str(1)))
    return names.str(1) + "::" + names.str(2);
  if (std::regex_match(text, names, scoped) && in_cuda_namespace(names.str(2)))
    return names.str(2) + "::" + names.str(1);
  if (!std::regex_match(text, names, plain)) return "";
  const std::string name = names.str(1);
  if (const std::string_view what = find(libraries, name); !what.empty())
    return std::string(what) + " (" + name + ")";
  return belongs_to_cuda(name) ? name : "";
}

}  // namespace kb::cu2cpp
