# Options, the language set-up of the chosen backend, and flags that hold for every target.
set(KB_BACKEND cpu CACHE STRING "cpu: candidates run as C++; cuda: candidates run on a GPU")
set_property(CACHE KB_BACKEND PROPERTY STRINGS cpu cuda)
set(KB_SANITIZE none CACHE STRING "Sanitizer of candidates on the CPU backend: none, address, thread")
set_property(CACHE KB_SANITIZE PROPERTY STRINGS none address thread)
set(KB_RUNS "*" CACHE STRING "Runs of candidates/ to configure: names or globs separated by ;")
set(KB_CUDA_CHECK_ARCH sm_90 CACHE STRING "Architecture of the CPU backend's compile check by nvcc")

if(NOT KB_BACKEND MATCHES "^(cpu|cuda)$")
  message(FATAL_ERROR "KB_BACKEND is '${KB_BACKEND}'; it must be cpu or cuda.")
endif()
if(NOT KB_SANITIZE MATCHES "^(none|address|thread)$")
  message(FATAL_ERROR "KB_SANITIZE is '${KB_SANITIZE}'; it must be none, address or thread.")
endif()
if(KB_BACKEND STREQUAL cuda AND NOT KB_SANITIZE STREQUAL none)
  message(FATAL_ERROR "KB_SANITIZE=${KB_SANITIZE} needs KB_BACKEND=cpu (preset cpu-asan or cpu-tsan).")
endif()

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
    add_link_options($<$<LINK_LANGUAGE:CXX>:-fuse-ld=${linker}>)
    break()
  endif()
endforeach()

if(KB_BACKEND STREQUAL cuda)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    message(FATAL_ERROR "No GPU architecture is chosen: use a preset (cmake --list-presets), for "
      "example cmake --preset h200, or pass -DCMAKE_CUDA_ARCHITECTURES=<NN-real>.")
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "No nvcc was found. Install the CUDA toolkit 12.4 or newer and put nvcc on "
      "PATH (or set CUDACXX), or use the preset cpu, which needs none.")
  endif()
  enable_language(CUDA)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.4)
    message(FATAL_ERROR "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is too old: the CUDA toolkit must be "
      "12.4 or newer.")
  endif()
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_FLAGS_RELEASE "-O3")
  find_package(CUDAToolkit REQUIRED)
else()
  find_program(KB_NVCC nvcc HINTS /usr/local/cuda/bin
    DOC "nvcc, used on the CPU backend to reject what is not valid CUDA")
endif()

find_package(Threads REQUIRED)

# Compiling one candidate can take several gigabytes (CUTLASS), so memory bounds the parallelism.
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
cmake_host_system_information(RESULT memory_mib QUERY TOTAL_PHYSICAL_MEMORY)
math(EXPR by_memory "${memory_mib} / 4096")
set(jobs ${cores})
if(by_memory LESS jobs)
  set(jobs ${by_memory})
endif()
if(jobs LESS 1)
  set(jobs 1)
endif()
set_property(GLOBAL APPEND PROPERTY JOB_POOLS kb_candidates=${jobs})

# The flags of trusted code; candidates are compiled with their own.
add_library(kb_flags INTERFACE)
# GCC 12 sees overruns in every inlined string concatenation (gcc.gnu.org PR 105651).
target_compile_options(kb_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wno-missing-field-initializers;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>)
target_compile_definitions(kb_flags INTERFACE $<$<STREQUAL:${KB_BACKEND},cuda>:KB_CUDA>)
target_include_directories(kb_flags INTERFACE ${PROJECT_SOURCE_DIR}/harness)
