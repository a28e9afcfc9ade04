# Third-party packages: from the system, or from a source folder named by FETCHCONTENT_SOURCE_DIR_*.
include(FetchContent)

function(kb_need package apt)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found. Run tools/quickstart, or: apt-get install ${apt}")
  endif()
endfunction()

macro(kb_from_source name)
  string(TOUPPER ${name} upper)
  FetchContent_Declare(${name} SOURCE_DIR ${FETCHCONTENT_SOURCE_DIR_${upper}})
  FetchContent_MakeAvailable(${name})
endmacro()

if(FETCHCONTENT_SOURCE_DIR_GOOGLETEST)
  set(INSTALL_GTEST OFF)
  kb_from_source(googletest)
else()
  find_package(GTest 1.12 QUIET)
  kb_need(GTest libgtest-dev)
endif()

# Debian's library calls itself a debug build and is slower to start a timer; published numbers come
# from a Release build of the library, given by -DFETCHCONTENT_SOURCE_DIR_BENCHMARK=<checkout>.
if(FETCHCONTENT_SOURCE_DIR_BENCHMARK)
  set(BENCHMARK_ENABLE_TESTING OFF)
  set(BENCHMARK_ENABLE_INSTALL OFF)
  set(BENCHMARK_ENABLE_WERROR OFF)
  kb_from_source(benchmark)
else()
  find_package(benchmark 1.7 QUIET)
  kb_need(benchmark libbenchmark-dev)
endif()

find_package(nlohmann_json 3.10 QUIET)
kb_need(nlohmann_json nlohmann-json3-dev)
find_package(CLI11 2.1 QUIET)
kb_need(CLI11 libcli11-dev)

# Linked statically where possible: a candidate shares the runner's process, not its libraries.
find_path(KB_SECCOMP_INCLUDE seccomp.h)
find_library(KB_SECCOMP_LIBRARY NAMES libseccomp.a seccomp)
if(KB_SECCOMP_INCLUDE AND KB_SECCOMP_LIBRARY)
  set(libseccomp_FOUND TRUE)
endif()
kb_need(libseccomp libseccomp-dev)
add_library(kb_seccomp INTERFACE)
target_include_directories(kb_seccomp INTERFACE ${KB_SECCOMP_INCLUDE})
target_link_libraries(kb_seccomp INTERFACE ${KB_SECCOMP_LIBRARY})
