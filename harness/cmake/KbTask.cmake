# Tasks: a folder levelN/NNN_slug with task.h, reference.cpp and candidate.cu is one. Sources that tasks of one
# architecture share lie beside them in levelN/architectures.

# kb_add_levels(): adds the tasks that KB_TASKS names, of all levels, and their shipped candidates as the run `seed`.
function(kb_add_levels)
  kb_globs_to_regex(chosen "${KB_TASKS}")
  set(all "")
  foreach(level IN ITEMS 1 2 3 4)
    kb_add_level(${level} "${chosen}")
    get_property(added GLOBAL PROPERTY KB_TASKS_${level})
    list(APPEND all ${added})
  endforeach()
  if(NOT all)
    message(FATAL_ERROR "KB_TASKS is '${KB_TASKS}', but no task has such a name: name tasks as level1/019_relu or by "
      "globs as level2/*, or choose all again with -DKB_TASKS=*.")
  endif()
endfunction()

# Sets <out> to a regular expression of what one of these globs matches; `*` matches a slash, too.
function(kb_globs_to_regex out globs)
  set(any "")
  foreach(pattern IN LISTS globs)
    string(REGEX REPLACE "/+$" "" pattern "${pattern}")  # as shells complete names of folders
    string(REGEX REPLACE "([.+()^$|])" "\\\\\\1" pattern "${pattern}")
    string(REPLACE "*" ".*" pattern "${pattern}")
    string(REPLACE "?" "." pattern "${pattern}")
    list(APPEND any "${pattern}")
  endforeach()
  list(JOIN any "|" any)
  set(${out} "^(${any})$" PARENT_SCOPE)
endfunction()

# kb_add_level(<level> <regular expression of levelN/NNN_slug>)
function(kb_add_level level chosen)
  set(dir ${PROJECT_SOURCE_DIR}/level${level})
  file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE ${dir} ${dir}/*)
  set(slugs "")
  set(left_out "")
  foreach(slug IN LISTS folders)
    if(NOT IS_DIRECTORY ${dir}/${slug} OR slug STREQUAL architectures)
      continue()
    endif()
    if(NOT slug MATCHES "^[0-9][0-9][0-9]_[a-z0-9_]+$")
      message(FATAL_ERROR "level${level}/${slug}: a task folder is named NNN_slug in lower case.")
    endif()
    string(SUBSTRING ${slug} 0 4 number)
    set(same ${slugs} ${left_out})
    list(FILTER same INCLUDE REGEX "^${number}")
    if(same)
      message(FATAL_ERROR "level${level}/${slug} and level${level}/${same} have the same number: give one another.")
    endif()
    if(NOT level${level}/${slug} MATCHES "${chosen}")
      list(APPEND left_out ${slug})
      continue()
    endif()
    kb_add_task(${level} ${slug})
    kb_add_candidate(RUN seed LEVEL ${level} TASK ${slug} SOURCE level${level}/${slug}/candidate.cu)
    list(APPEND slugs ${slug})
  endforeach()
  set_property(GLOBAL PROPERTY KB_TASKS_${level} ${slugs})
  set_property(GLOBAL PROPERTY KB_TASKS_LEFT_OUT_${level} ${left_out})
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
  target_link_libraries(${name} PRIVATE kb_reference_library)
  # Without the empty symbol CMake defines <target>_EXPORTS, and the compiler drops the shared header.
  set_target_properties(${name} PROPERTIES PREFIX "" DEFINE_SYMBOL "" CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/tasks)
  target_precompile_headers(${name} REUSE_FROM kb_reference_library)

  foreach(kind IN ITEMS test bench)
    add_executable(${name}.${kind} $<TARGET_OBJECTS:kb_${kind}_main>)
    target_link_libraries(${name}.${kind} PRIVATE kb_judge ${name})
  endforeach()

  if(NOT KB_CONTRACT MATCHES "16$")
    kb_add_program_test(kb.validity.${name} kb_validity --task level${level}/${slug})
    set_tests_properties(kb.validity.${name} PROPERTIES LABELS "selftest;validity" TIMEOUT 120
      FIXTURES_REQUIRED "kb.env;kb.report")
  endif()
endfunction()
