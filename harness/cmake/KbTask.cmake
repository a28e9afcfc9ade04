# Tasks: a folder levelN/NNN_slug with task.h, reference.cpp and candidate.cu is one.

# kb_add_level(<level>): adds every task of levelN/, and its shipped candidates as the run `seed`.
function(kb_add_level level)
  set(dir ${PROJECT_SOURCE_DIR}/level${level})
  file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE ${dir} ${dir}/*)
  set(slugs "")
  foreach(slug IN LISTS folders)
    if(NOT IS_DIRECTORY ${dir}/${slug})
      continue()
    endif()
    if(NOT slug MATCHES "^[0-9][0-9][0-9]_[a-z0-9_]+$")
      message(FATAL_ERROR "level${level}/${slug}: a task folder is named NNN_slug in lower case.")
    endif()
    string(SUBSTRING ${slug} 0 4 number)
    set(same ${slugs})
    list(FILTER same INCLUDE REGEX "^${number}")
    if(same)
      message(FATAL_ERROR "level${level}/${slug} and level${level}/${same} have the same number: give one another.")
    endif()
    kb_add_task(${level} ${slug})
    kb_add_candidate(RUN seed LEVEL ${level} TASK ${slug} SOURCE level${level}/${slug}/candidate.cu)
    list(APPEND slugs ${slug})
  endforeach()
  set_property(GLOBAL PROPERTY KB_TASKS_${level} ${slugs})
endfunction()

# kb_add_task(<level> <slug>): the reference as a library, the two programs that judge and time, and the
# test that the task accepts no trivial answer.
function(kb_add_task level slug)
  set(name level${level}.${slug})
  set(dir ${PROJECT_SOURCE_DIR}/level${level}/${slug})
  foreach(file IN ITEMS task.h reference.cpp candidate.cu)
    if(NOT EXISTS ${dir}/${file})
      message(FATAL_ERROR "level${level}/${slug} lacks ${file}; a task has task.h, reference.cpp and "
        "candidate.cu (CONTRIBUTING.md, section \"Add a task\").")
    endif()
  endforeach()

  add_library(${name} SHARED ${dir}/reference.cpp)
  target_include_directories(${name} PRIVATE ${dir})
  target_compile_definitions(${name} PRIVATE KB_TASK_NAME="level${level}/${slug}")
  target_link_libraries(${name} PRIVATE kb_reference)
  # Without the empty symbol CMake defines <target>_EXPORTS, and the compiler drops the shared header.
  set_target_properties(${name} PROPERTIES PREFIX "" DEFINE_SYMBOL "" CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/tasks)
  target_precompile_headers(${name} REUSE_FROM kb_reference)

  foreach(kind IN ITEMS test bench)
    add_executable(${name}.${kind} $<TARGET_OBJECTS:kb_${kind}_main>)
    target_link_libraries(${name}.${kind} PRIVATE kb_judge ${name})
  endforeach()

  add_test(NAME kb.validity.${name} COMMAND kb_validity --task level${level}/${slug})
  set_tests_properties(kb.validity.${name} PROPERTIES LABELS "selftest;validity" TIMEOUT 120
    FIXTURES_REQUIRED "kb.env;kb.report")
endfunction()
