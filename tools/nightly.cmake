# One night of comparing hardware: updates, builds, judges, tells CDash, files the report of each GPU, and compares it
# with the last night on that GPU.
#   ctest -S tools/nightly.cmake -DPRESETS="l40s;h100"
# Options, each as -D<name>=<value>:
#   PRESETS          presets of this machine, separated by ;
#   UPDATE           ON: git pull --ff-only first
#   HISTORY          the folder of all nights (default: kernelbench-native/nightly in XDG_STATE_HOME or ~/.local/state)
#   BUILD_ROOT       the folder of the build folders (default: build/nightly, so that nobody's own build is touched)
#   LABELS           which tests, as ctest -L takes it (default: all kernels; the example run's are left out always)
#   JOBS             tests side by side (default: 4; a GPU has one kernel at a time in any case)
#   CTEST_SUBMIT_URL a CDash server's submit.php (default: the environment's KB_CDASH_URL; none: nothing is sent)
#   RETRIES          how often sending is tried again, after 5 s each time (default: 2)
#   DRY_RUN          ON: only say what the night would do, and build nothing
#   KB_*, Python3_*, FETCHCONTENT_*   go to CMake, such as -DKB_TASKS="level1/*"
# A kernel that does not pass is a row in the report. The exit status is 0 unless something of the night itself failed
# or a kernel got worse; the last lines say what.
cmake_minimum_required(VERSION 3.25)
get_cmake_property(KB_VARIABLES VARIABLES)  # before this script makes any of its own
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH CTEST_SOURCE_DIRECTORY)
set(CTEST_CMAKE_GENERATOR Ninja)
include(${CMAKE_CURRENT_LIST_DIR}/lib/night.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/lib/nights.cmake)

kb_check_names("${KB_VARIABLES}" PRESETS UPDATE HISTORY BUILD_ROOT LABELS JOBS CTEST_SUBMIT_URL RETRIES DRY_RUN)
if(NOT LABELS)
  set(LABELS "^(build|correct|bench)$")
endif()
if(NOT JOBS)
  set(JOBS 4)
endif()
if(NOT DEFINED RETRIES)
  set(RETRIES 2)
endif()
if(NOT BUILD_ROOT)
  set(BUILD_ROOT ${CTEST_SOURCE_DIRECTORY}/build/nightly)
endif()
cmake_path(ABSOLUTE_PATH BUILD_ROOT NORMALIZE)
kb_check_options()
kb_choose_history()
if(DRY_RUN)
  kb_tell_plan()
  set(CTEST_RUN_CURRENT_SCRIPT OFF)  # or CTest asks for a project to test
  return()
endif()

foreach(preset IN LISTS PRESETS)
  kb_night(${preset})
  set(UPDATE OFF)  # all GPUs judge the same commit
endforeach()
kb_write_matrix()
kb_end()
