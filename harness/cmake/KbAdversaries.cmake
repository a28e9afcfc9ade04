# Candidates that try to cheat, controls that look like it and do not, kernels as people and generators write them, and
# those that prompts show: each file's verdict is a test.

# kb_add_adversaries(): one test kb.adversary.<name> per .cu file of harness/tests/adversaries, kb.honest.<name> of
# harness/tests/honest and kb.prompt.<name> of reports/templates/prompt/kernels. Its first lines say what it tries and
# `// Task: levelN/NNN_slug`, `// Expected: <verdict>` and, where it cannot be tried everywhere, `// Backends: cuda`.
# What several adversaries need, such as a kernel that is right, stands in harness/tests/adversaries/shared.
function(kb_add_adversaries)
  kb_add_adversaries_of(adversary harness/tests/adversaries harness/tests/adversaries/controls)
  kb_add_adversaries_of(honest harness/tests/honest)
  kb_add_adversaries_of(prompt reports/templates/prompt/kernels)
  set(KB_CONTRACT fp32)  # what their expected verdicts are about
  kb_write_manifest(adversaries.json KB_HIDDEN_CANDIDATES)
endfunction()

function(kb_add_adversaries_of kind)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE globs)
  list(TRANSFORM globs APPEND /*.cu)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${globs})
  foreach(file IN LISTS files)
    kb_add_adversary(${kind} ${file})
  endforeach()
endfunction()

function(kb_add_adversary kind file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} task REGEX "^// Task: " LIMIT_COUNT 1)
  file(STRINGS ${file} backends REGEX "^// Backends: " LIMIT_COUNT 1)
  if(backends AND NOT backends MATCHES "[ ,]${KB_BACKEND}")
    return()
  endif()
  if(NOT task MATCHES "^// Task: level([1-4])/([a-z0-9_]+)$")
    message(FATAL_ERROR "${file} lacks a line '// Task: levelN/NNN_slug'.")
  endif()
  set(level ${CMAKE_MATCH_1})
  set(slug ${CMAKE_MATCH_2})
  get_property(slugs GLOBAL PROPERTY KB_TASKS_${level})
  if(NOT slug IN_LIST slugs)
    message(FATAL_ERROR "${file} is for level${level}/${slug}, and there is no such task.")
  endif()
  cmake_path(GET file STEM short)
  kb_add_candidate(HIDDEN KB_HIDDEN_CANDIDATES RUN adversaries SAMPLE ${short} LEVEL ${level} TASK ${slug} SOURCE ${file})
  set(name adversaries.${short}.level${level}.${slug})
  if(kind STREQUAL adversary)
    kb_let_share(${name})
  endif()
  set(test kb.${kind}.${short})
  add_test(NAME ${test} COMMAND ${Python3_EXECUTABLE}
    ${PROJECT_SOURCE_DIR}/harness/tests/expect_verdict.py
    --manifest ${PROJECT_BINARY_DIR}/adversaries.json --candidate ${name}
    --log ${PROJECT_BINARY_DIR}/adversaries.jsonl)
  set_tests_properties(${test} PROPERTIES LABELS "selftest;${kind}" TIMEOUT 300
    FIXTURES_REQUIRED "kb.env;kb.peaks" RESOURCE_LOCK result.${name})
  # Those that hang need not be waited for. Others may be slow where tests run side by side.
  file(STRINGS ${file} hangs REGEX "^// Expected: .*timeout" LIMIT_COUNT 1)
  if(hangs)
    set_tests_properties(${test} PROPERTIES ENVIRONMENT "KB_CALL_TIMEOUT=3")
  endif()
  kb_take_turns(${test})
endfunction()

# Lets an adversary include "shared/..." of their folder, which the launcher would refuse.
function(kb_let_share name)
  foreach(property IN ITEMS CXX_COMPILER_LAUNCHER CUDA_COMPILER_LAUNCHER)
    get_target_property(launcher ${name} ${property})
    if(launcher)
      # As text: a list of CMake's would lose the semicolons within its elements.
      set(shared ${PROJECT_SOURCE_DIR}/harness/tests/adversaries/shared)
      string(REPLACE ";--stub;" ";--allow-read;${shared};--stub;" launcher "${launcher}")
      set_target_properties(${name} PROPERTIES ${property} "${launcher}")
    endif()
  endforeach()
endfunction()
