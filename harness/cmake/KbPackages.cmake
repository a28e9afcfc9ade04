# Third-party packages: from the system, or from a source folder named by FETCHCONTENT_SOURCE_DIR_*.
include(FetchContent)

# kb_lacks(<what> <Debian package>): stops with the remedy.
function(kb_lacks what apt)
  message(FATAL_ERROR "${what} was not found. Run tools/quickstart, or: apt-get install ${apt}")
endfunction()

macro(kb_need package version apt)
  find_package(${package} ${version} QUIET)
  if(NOT ${package}_FOUND)
    kb_lacks("${package} ${version} or newer" ${apt})
  endif()
endmacro()

macro(kb_from_source name)
  string(TOUPPER ${name} upper)
  FetchContent_Declare(${name} SOURCE_DIR ${FETCHCONTENT_SOURCE_DIR_${upper}})
  FetchContent_MakeAvailable(${name})
endmacro()

if(FETCHCONTENT_SOURCE_DIR_GOOGLETEST)
  set(INSTALL_GTEST OFF)
  kb_from_source(googletest)
else()
  kb_need(GTest 1.12 libgtest-dev)
endif()

# Debian's library calls itself a debug build and is slower to start a timer; published numbers come
# from a Release build of the library, given by -DFETCHCONTENT_SOURCE_DIR_BENCHMARK=<checkout>.
if(FETCHCONTENT_SOURCE_DIR_BENCHMARK)
  set(BENCHMARK_ENABLE_TESTING OFF)
  set(BENCHMARK_ENABLE_INSTALL OFF)
  set(BENCHMARK_ENABLE_WERROR OFF)
  kb_from_source(benchmark)
  target_compile_definitions(benchmark PRIVATE NDEBUG)  # else its files say "debug"
else()
  kb_need(benchmark 1.7 libbenchmark-dev)
endif()

kb_need(nlohmann_json 3.10 nlohmann-json3-dev)
kb_need(CLI11 2.1 libcli11-dev)

# Linked statically where possible: a candidate shares the runner's process, not its libraries.
find_path(KB_SECCOMP_INCLUDE seccomp.h)
find_library(KB_SECCOMP_LIBRARY NAMES libseccomp.a seccomp)
if(NOT KB_SECCOMP_INCLUDE OR NOT KB_SECCOMP_LIBRARY)
  kb_lacks(libseccomp libseccomp-dev)
endif()
add_library(kb_seccomp INTERFACE)
target_include_directories(kb_seccomp INTERFACE ${KB_SECCOMP_INCLUDE})
target_link_libraries(kb_seccomp INTERFACE ${KB_SECCOMP_LIBRARY})
