# Prints the variables that this CTest itself sets in a script, for kb_check_names in nights.cmake.
cmake_minimum_required(VERSION 3.25)
get_cmake_property(names VARIABLES)
message("${names}")
set(CTEST_RUN_CURRENT_SCRIPT OFF)
