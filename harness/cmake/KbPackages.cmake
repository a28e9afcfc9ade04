# Third-party packages. Each comes from a source folder named by FETCHCONTENT_SOURCE_DIR_<NAME>, else from the system or
# from what tools/quickstart has unpacked into .deps/, else, with KB_FETCH, from its release archive.
option(KB_FETCH "Build third-party packages that the system lacks from their release archives" OFF)
set(KB_ARCHIVES "" CACHE PATH "Folder with these archives, as tools/bundle makes it; empty: they are downloaded")
include(FetchContent)
if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/.deps/root/usr)
  list(APPEND CMAKE_PREFIX_PATH ${PROJECT_SOURCE_DIR}/.deps/root/usr)
endif()

# kb_need(<name> <Debian package> <package> <further arguments of find_package>...): finds it, or sets KB_BUILD to say that
# its archive of this name in archives.txt is to be built.
macro(kb_need name apt package)
  string(TOUPPER FETCHCONTENT_SOURCE_DIR_${name} folder)
  set(KB_BUILD TRUE)
  if(NOT ${folder})
    find_package(${package} ${ARGN} QUIET)
    if(${package}_FOUND)
      set(KB_BUILD FALSE)
    elseif(NOT KB_FETCH)
      message(FATAL_ERROR "${package} (${ARGN}) was not found or is too old. Run tools/quickstart, or: apt-get install "
        "${apt}, or pass -DKB_FETCH=ON, which builds it from its release archive.")
    endif()
  endif()
endmacro()

# kb_source(<name> [SOURCE_SUBDIR <folder>]): its sources are in ${<name>_SOURCE_DIR}. With a SOURCE_SUBDIR that has no
# CMakeLists.txt nothing of the package's own build is read.
macro(kb_source name)
  file(STRINGS ${PROJECT_SOURCE_DIR}/harness/cmake/archives.txt pin REGEX "^${name} ")
  string(REPLACE " " ";" pin "${pin}")
  list(GET pin 1 sha256)
  list(GET pin 2 url)
  if(KB_ARCHIVES)
    set(url ${KB_ARCHIVES}/${name}.tar.gz)
  endif()
  FetchContent_Declare(${name} URL ${url} URL_HASH SHA256=${sha256} DOWNLOAD_EXTRACT_TIMESTAMP FALSE ${ARGN})
  FetchContent_MakeAvailable(${name})
  message(STATUS "${name} is built from ${${name}_SOURCE_DIR}")
endmacro()

# kb_headers(<name> <target>): a package that is headers alone.
macro(kb_headers name target)
  kb_source(${name} SOURCE_SUBDIR own-build-unused)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE ${${name}_SOURCE_DIR}/include)
endmacro()

kb_need(googletest libgtest-dev GTest 1.12)
if(KB_BUILD)
  set(INSTALL_GTEST OFF)
  set(BUILD_GMOCK OFF)
  kb_source(googletest)
endif()

# Debian's library calls itself a debug build and is slower to start a timer; published numbers come from a Release build
# of the library, given by -DFETCHCONTENT_SOURCE_DIR_BENCHMARK=<checkout>.
kb_need(benchmark libbenchmark-dev benchmark 1.7)
if(KB_BUILD)
  set(BENCHMARK_ENABLE_TESTING OFF)
  set(BENCHMARK_ENABLE_INSTALL OFF)
  set(BENCHMARK_ENABLE_WERROR OFF)
  kb_source(benchmark)
  target_compile_definitions(benchmark PRIVATE NDEBUG)  # else its files say "debug"
endif()

kb_need(nlohmann_json nlohmann-json3-dev nlohmann_json 3.10)
if(KB_BUILD)
  kb_headers(nlohmann_json nlohmann_json::nlohmann_json)
endif()

kb_need(cli11 libcli11-dev CLI11 2.1)
if(KB_BUILD)
  kb_headers(cli11 CLI11::CLI11)
endif()

kb_need(libseccomp libseccomp-dev KbSeccomp)
if(KB_BUILD)
  kb_source(libseccomp SOURCE_SUBDIR own-build-unused)
  add_subdirectory(${PROJECT_SOURCE_DIR}/harness/cmake/libseccomp)
endif()

if(KB_BACKEND STREQUAL cpu)
  kb_need(boost_context libboost-context-dev Boost CONFIG COMPONENTS context)
  if(KB_BUILD)
    kb_source(boost_context SOURCE_SUBDIR own-build-unused)
    kb_source(boost_config SOURCE_SUBDIR own-build-unused)
    add_subdirectory(${PROJECT_SOURCE_DIR}/harness/cmake/boost_context)
  endif()
endif()
