# How the project's own tests become tests of CTest.
include(GoogleTest)

# kb_discover_tests(<prefix> <program> [GPU] [PROPERTIES <name> <value>...]): each test of a GoogleTest program as
# <prefix>.<Suite>.<Test> with the label selftest, listed whenever the program was linked. One that skips is Skipped.
function(kb_discover_tests prefix program)
  cmake_parse_arguments(PARSE_ARGV 2 arg "GPU" "" "PROPERTIES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kb_discover_tests: unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  # To list them a program of LibTorch's takes 0.2 s, and longer where others compile.
  gtest_discover_tests(${program} TEST_PREFIX ${prefix}. DISCOVERY_TIMEOUT 60)
  set(gpu "")
  if(arg_GPU)
    kb_slot_properties(2 gpu)
  endif()
  # gtest_discover_tests() itself would take values that are lists apart.
  set(values "")
  foreach(value IN ITEMS LABELS selftest TIMEOUT 120 ${gpu} LISTS arg_PROPERTIES)
    string(APPEND values " [==[${value}]==]")
  endforeach()
  # The file that gtest_discover_tests() has CTest read is read by ours, for its tests are there only then.
  get_property(files DIRECTORY PROPERTY TEST_INCLUDE_FILES)
  list(POP_BACK files listed)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${program}_properties.cmake)
  file(GENERATE OUTPUT ${file} CONTENT
    "if(EXISTS \"$<TARGET_FILE:${program}>\")
  include(\"${listed}\")
  set_tests_properties(\${${program}_TESTS} PROPERTIES${values})
else()  # it was not built: what CMake says of that is the test's output
  add_test(${program}_NOT_BUILT \"${CMAKE_COMMAND}\" -E env \"$<TARGET_FILE:${program}>\")
  set_tests_properties(${program}_NOT_BUILT PROPERTIES LABELS selftest)
endif()
")
  set_property(DIRECTORY PROPERTY TEST_INCLUDE_FILES ${files} ${file})
endfunction()

# kb_add_program_test(<name> <program> [<argument>...]): a test by CMake, which starts the program. Of a program that was
# not built, as `kb_suite` leaves out most of the project's own, CTest would say in 15 lines where it has looked for it,
# each time that it lists tests.
function(kb_add_program_test name program)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E env $<TARGET_FILE:${program}> ${ARGN})
endfunction()

# kb_add_selftest(<name> SOURCES <files>... [LIBRARIES <targets>...] [DEFINITIONS <defs>...] [GPU]
#   [TIMEOUT <seconds>]):
# a GoogleTest program, each of its tests as kb.test.<name>.<Suite>.<Test> with the label selftest.
function(kb_add_selftest name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GPU" "TIMEOUT" "SOURCES;LIBRARIES;DEFINITIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kb_add_selftest: unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(kb_test_${name} ${arg_SOURCES})
  target_link_libraries(kb_test_${name} PRIVATE kb_flags GTest::gtest_main ${arg_LIBRARIES})
  target_compile_definitions(kb_test_${name} PRIVATE ${arg_DEFINITIONS})
  if(arg_LIBRARIES MATCHES "kb_(acceptance|judge|reference|trivial_answers)")
    kb_compile_with_aten(kb_test_${name})
  endif()
  set(more "")
  if(arg_GPU)
    list(APPEND more GPU)
  endif()
  if(arg_TIMEOUT)
    list(APPEND more PROPERTIES TIMEOUT ${arg_TIMEOUT})
  endif()
  kb_discover_tests(kb.test.${name} kb_test_${name} ${more})
endfunction()

# kb_add_pytests(<prefix> <folder> [PROPERTIES <name> <value>...]): each file of tests as <prefix>.<file>, with the label
# selftest. The end of its output says what was skipped.
function(kb_add_pytests prefix folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "PROPERTIES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kb_add_pytests: unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  file(GLOB files CONFIGURE_DEPENDS ${folder}/test_*.py)
  foreach(file IN LISTS files)
    cmake_path(GET file STEM name)
    set(test ${prefix}.${name})
    add_test(NAME ${test} COMMAND ${Python3_EXECUTABLE} -m pytest -q -rs -p no:cacheprovider ${file})
    set_tests_properties(${test} PROPERTIES LABELS selftest ${arg_PROPERTIES})
  endforeach()
endfunction()

# kb_add_feature_program(<program> <sources>...): a program of tests in CUDA, for the GPU or for the CPU.
function(kb_add_feature_program program)
  if(KB_BACKEND STREQUAL cuda)
    add_executable(${program} ${ARGN})
    set_target_properties(${program} PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON)
  else()
    kb_add_cpu_program(${program} ${ARGN})
  endif()
endfunction()

# kb_add_feature_tests(<program> <prefix> <sources>...): a test <prefix>.<feature>.<order> for each KB_FEATURE(<feature>)
# of the sources and each order of a block's threads. Their names stand in the sources only. Each is a process of its
# own: ThreadSanitizer keeps the threads of every block of a process.
function(kb_add_feature_tests program prefix)
  set(orders forward)
  if(KB_BACKEND STREQUAL cpu AND NOT KB_SANITIZE STREQUAL "thread")
    list(APPEND orders reverse drawn)
  endif()
  set(schedule_drawn drawn:1)  # one with which a kernel's first launch is isolated
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} lines REGEX "^KB_FEATURE\\(")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^KB_FEATURE\\((.*)\\) .*" "\\1" feature "${line}")
      foreach(order IN LISTS orders)
        set(test ${prefix}.${feature}.${order})
        kb_add_program_test(${test} ${program} ${feature})
        set(schedule ${order})
        if(order STREQUAL drawn)
          set(schedule ${schedule_drawn})
        endif()
        set_tests_properties(${test} PROPERTIES ENVIRONMENT KB_CPU_SCHEDULE=${schedule} LABELS selftest TIMEOUT 120)
        kb_use_gpu(${test})
      endforeach()
    endforeach()
  endforeach()
endfunction()
