# kb_add_selftest(<name> SOURCES <files>... [LIBRARIES <targets>...] [DEFINITIONS <defs>...]):
# a GoogleTest program as the test kb.test.<name> with the label selftest.
function(kb_add_selftest name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES;DEFINITIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kb_add_selftest: unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(kb_test_${name} ${arg_SOURCES})
  target_link_libraries(kb_test_${name} PRIVATE kb_flags GTest::gtest_main ${arg_LIBRARIES})
  target_compile_definitions(kb_test_${name} PRIVATE ${arg_DEFINITIONS})
  add_test(NAME kb.test.${name} COMMAND kb_test_${name})
  set_tests_properties(kb.test.${name} PROPERTIES LABELS selftest TIMEOUT 120)
endfunction()
