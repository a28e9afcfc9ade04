# Options, the language set-up of the chosen backend, and flags that hold for every target.
set(KB_BACKEND cpu CACHE STRING "cpu: candidates run as C++; cuda: candidates run on a GPU")
set_property(CACHE KB_BACKEND PROPERTY STRINGS cpu cuda)
set(KB_SANITIZE none CACHE STRING "Sanitizer of candidates on the CPU backend: none, address, thread")
set_property(CACHE KB_SANITIZE PROPERTY STRINGS none address thread)
set(KB_RUNS "*" CACHE STRING "Runs of candidates/ to configure: names or globs separated by ;")
set(KB_TASKS "*" CACHE STRING "Tasks to configure: names such as level1/019_relu or globs separated by ;")
set(KB_REQUIRE_ISOLATION "" CACHE STRING "full: judge nothing on a machine that lacks a layer of isolation")
set_property(CACHE KB_REQUIRE_ISOLATION PROPERTY STRINGS "" full)
set(KB_SIZES full CACHE STRING "full: upstream's sizes; <N>g: scaled down where a GPU with N GB of memory needs it")
set_property(CACHE KB_SIZES PROPERTY STRINGS full 16g 24g 48g)
set(KB_CONTRACT kernelbench CACHE STRING
  "Precision contract of judging and timing: kernelbench, fp32, tf32, fp16, bf16")
set_property(CACHE KB_CONTRACT PROPERTY STRINGS kernelbench fp32 tf32 fp16 bf16)
set(KB_LANES "eager;graph" CACHE STRING "Baselines to time against: eager and graph always; library, aoti")
set(KB_PROFILE off CACHE STRING "ncu: after its times, Nsight Compute watches one call of each kernel that passed")
set_property(CACHE KB_PROFILE PROPERTY STRINGS off ncu)
set(KB_CUDA_CHECK syntax CACHE STRING "nvcc's check of candidates on the CPU backend: syntax; machine_code: registers, too")
set_property(CACHE KB_CUDA_CHECK PROPERTY STRINGS syntax machine_code)
set(KB_CUDA_CHECK_ARCH sm_90a CACHE STRING "Architecture of that check, and of the device that the CPU layer presents")

# kb_check_option(<name> <default> <regular expression> <words>): refuses other values, and shows one that is not the
# default, since a build folder remembers what it was told once.
function(kb_check_option name default allowed words)
  if(NOT "${${name}}" MATCHES "${allowed}")
    message(FATAL_ERROR "${name} is '${${name}}'; it must ${words}. The build folder remembers the value until it gets "
      "another, such as -D${name}='${default}'.")
  elseif(NOT "${${name}}" STREQUAL "${default}")
    message(STATUS "${name} is '${${name}}' in this build folder (default '${default}')")
  endif()
endfunction()
list(SORT KB_LANES)
kb_check_option(KB_BACKEND cpu "^(cpu|cuda)$" "be cpu or cuda")
kb_check_option(KB_SANITIZE none "^(none|address|thread)$" "be none, address or thread")
kb_check_option(KB_CONTRACT kernelbench "^(kernelbench|fp32|tf32|fp16|bf16)$"
  "be kernelbench, fp32, tf32, fp16 or bf16")
kb_check_option(KB_LANES "eager;graph" "^(aoti;)?eager;graph(;library)?$"
  "hold eager and graph, and may hold library and aoti")
kb_check_option(KB_CUDA_CHECK syntax "^(syntax|machine_code)$" "be syntax or machine_code")
kb_check_option(KB_CUDA_CHECK_ARCH sm_90a "^sm_[0-9]+[af]?$" "be an architecture such as sm_90a")
kb_check_option(KB_PROFILE off "^(off|ncu)$" "be off or ncu")
kb_check_option(KB_REQUIRE_ISOLATION "" "^(full)?$" "be empty or full")
kb_check_option(KB_SIZES full "^(full|[1-9][0-9]*g)$" "be full, or the GPU's memory in GB such as 24g")
kb_check_option(KB_RUNS "*" "^" "")  # find_runs.py knows which there are
kb_check_option(KB_TASKS "*" "^" "")  # as kb_add_levels() of tasks
if(KB_BACKEND STREQUAL cuda AND NOT KB_SANITIZE STREQUAL none)
  message(FATAL_ERROR "KB_SANITIZE=${KB_SANITIZE} needs KB_BACKEND=cpu (preset cpu-asan or cpu-tsan).")
endif()

if(KB_PROFILE STREQUAL ncu)
  if(NOT KB_BACKEND STREQUAL cuda)
    message(FATAL_ERROR "KB_PROFILE=ncu needs a GPU's preset: on the CPU there is nothing for a profiler to see.")
  endif()
  find_program(KB_NCU ncu HINTS /usr/local/cuda/bin DOC "Nsight Compute's program")
  if(NOT KB_NCU)
    message(FATAL_ERROR "KB_PROFILE=ncu needs Nsight Compute, and there is no ncu in PATH. Install it (it comes with "
      "the CUDA toolkit) or name it with -DKB_NCU=<path>.")
  endif()
endif()

# References and candidates are compiled for the contract: it decides what kb::real is.
string(TOUPPER KB_CONTRACT_${KB_CONTRACT} KB_CONTRACT_DEFINITION)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# Without -DNDEBUG: assert() is a check, in candidates too.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# Linking against LibTorch takes 1.0 s with GNU ld and 0.2 s with these, times hundreds of programs.
include(CheckLinkerFlag)
foreach(linker IN ITEMS lld gold)
  check_linker_flag(CXX -fuse-ld=${linker} KB_LINKS_WITH_${linker})
  if(KB_LINKS_WITH_${linker})
    set(KB_LINKER -fuse-ld=${linker})
    add_link_options($<$<LINK_LANGUAGE:CXX>:${KB_LINKER}>)
    break()
  endif()
endforeach()

# kb_find_nvcc(<path> <version>): the nvcc to use, and its version; empty if there is none. On the CPU
# backend it only rejects what is not valid CUDA.
set(KB_CUDA_MINIMUM 12.4)
function(kb_find_nvcc path version)
  if(CMAKE_CUDA_COMPILER)
    set(nvcc ${CMAKE_CUDA_COMPILER})
  elseif(DEFINED ENV{CUDACXX})
    set(nvcc $ENV{CUDACXX})
  else()
    find_program(nvcc nvcc HINTS /usr/local/cuda/bin NO_CACHE)
  endif()
  set(${path} "" PARENT_SCOPE)
  if(nvcc)
    execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE text ERROR_QUIET)
    if(text MATCHES "release ([0-9.]+)")
      set(${path} ${nvcc} PARENT_SCOPE)
      set(${version} ${CMAKE_MATCH_1} PARENT_SCOPE)
    endif()
  endif()
endfunction()

if(KB_BACKEND STREQUAL cuda)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    message(FATAL_ERROR "No GPU architecture is chosen: use a preset (cmake --list-presets), for "
      "example cmake --preset h200, or pass -DCMAKE_CUDA_ARCHITECTURES=<NN-real>.")
  endif()
  kb_find_nvcc(nvcc nvcc_version)
  if(NOT nvcc)
    message(FATAL_ERROR "No nvcc was found. Install the CUDA toolkit ${KB_CUDA_MINIMUM} or newer and put "
      "nvcc on PATH (or set CUDACXX), or use the preset cpu, which needs none.")
  elseif(nvcc_version VERSION_LESS KB_CUDA_MINIMUM)
    message(FATAL_ERROR "${nvcc} is of CUDA ${nvcc_version}, too old: install the CUDA toolkit "
      "${KB_CUDA_MINIMUM} or newer and put its nvcc first on PATH (or set CUDACXX).")
  endif()
  string(REGEX REPLACE "[^0-9].*" "" architecture "${CMAKE_CUDA_ARCHITECTURES}")
  execute_process(COMMAND ${nvcc} --list-gpu-arch OUTPUT_VARIABLE known)
  if(NOT known MATCHES "compute_${architecture}[^0-9]")
    message(FATAL_ERROR "${nvcc} (CUDA ${nvcc_version}) cannot compile for sm_${architecture}: install "
      "a CUDA toolkit that can and put its nvcc first on PATH (or set CUDACXX).")
  endif()
  set(CMAKE_CUDA_COMPILER ${nvcc})
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_FLAGS_RELEASE "-O3")
  find_package(CUDAToolkit REQUIRED)
else()
  kb_find_nvcc(KB_NVCC nvcc_version)
  if(KB_NVCC AND nvcc_version VERSION_LESS KB_CUDA_MINIMUM)
    message(STATUS "${KB_NVCC} is of CUDA ${nvcc_version}, too old to check candidates: not used")
    set(KB_NVCC "")
  endif()
  # Whether it is CUDA: host and device code as far as PTX for one architecture, not optimised, which the assembler
  # reads. Not -arch=, which compiles for two; not -G: of some large kernels nvcc 13 crashes when it writes what a
  # debugger needs.
  string(REPLACE sm_ compute_ virtual_arch ${KB_CUDA_CHECK_ARCH})
  set(KB_NVCC_SYNTAX -gencode arch=${virtual_arch},code=${virtual_arch} -Xcicc -O0)
endif()

# Facts about candidates' machine code, where the CUDA toolkit has the program that lists it.
foreach(compiler IN ITEMS ${nvcc} ${KB_NVCC})
  cmake_path(GET compiler PARENT_PATH folder)
  find_program(KB_CUOBJDUMP cuobjdump HINTS ${folder})
  mark_as_advanced(KB_CUOBJDUMP)
endforeach()

find_package(Threads REQUIRED)

# Compiling one candidate can take several gigabytes (CUTLASS), so memory bounds the parallelism. The
# launcher gives each of KB_COMPILE_JOBS its share of the memory (harness/sandbox/build).
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
cmake_host_system_information(RESULT memory_mib QUERY TOTAL_PHYSICAL_MEMORY)
math(EXPR by_memory "${memory_mib} / 4096")
set(KB_COMPILE_JOBS ${cores})
if(by_memory LESS KB_COMPILE_JOBS)
  set(KB_COMPILE_JOBS ${by_memory})
endif()
if(KB_COMPILE_JOBS LESS 1)
  set(KB_COMPILE_JOBS 1)
endif()
set_property(GLOBAL APPEND PROPERTY JOB_POOLS kb_candidates=${KB_COMPILE_JOBS})

# The flags of trusted code; candidates are compiled with their own.
add_library(kb_flags INTERFACE)
# GCC 12 sees overruns in every inlined string concatenation (gcc.gnu.org PR 105651).
target_compile_options(kb_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wno-missing-field-initializers;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>)
target_compile_definitions(kb_flags INTERFACE $<$<STREQUAL:${KB_BACKEND},cuda>:KB_CUDA>)
target_include_directories(kb_flags INTERFACE ${PROJECT_SOURCE_DIR}/harness)
