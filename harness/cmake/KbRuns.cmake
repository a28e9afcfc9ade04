# Runs: candidates/<run>/[<sample>/]levelN/NNN_slug.cu, found by their place in the tree.

# kb_add_runs(): one candidate per file; a file that cannot be one stops the configure step with the remedy.
function(kb_add_runs)
  set(root ${PROJECT_SOURCE_DIR}/candidates)
  foreach(run IN LISTS KB_RUNS)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE ${root} ${root}/${run}/*)
    file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE ${root} ${root}/${run})
    if(NOT folders AND NOT run STREQUAL "*")
      message(FATAL_ERROR "KB_RUNS names '${run}', but candidates/${run} does not exist. Add it, or "
        "choose all runs again with -DKB_RUNS=*.")
    endif()
    list(APPEND files ${found} ${folders})
  endforeach()
  list(REMOVE_DUPLICATES files)
  foreach(file IN LISTS files)
    kb_add_run_file(${root} "${file}")
  endforeach()
endfunction()

# One entry below candidates/: a candidate, or something to pass over, or a mistake.
function(kb_add_run_file root file)
  set(place "candidates/${file}")
  get_filename_component(name "${file}" NAME)
  if(name MATCHES "^\\.|~$|^#")
    return()  # what editors and file managers leave behind
  endif()
  if(IS_SYMLINK "${root}/${file}")
    message(FATAL_ERROR "${place} is a symbolic link. Results quote what the compiler saw, so a link "
      "could publish any file of this machine: put a copy in its place.")
  endif()
  if(NOT EXISTS "${root}/${file}")
    message(FATAL_ERROR "${place}: a name in candidates/ holds one of ; [ ] \\ ; use letters, digits, "
      "_ and - only.")
  endif()
  if(NOT file MATCHES "\\.cu$")
    if(NOT IS_DIRECTORY "${root}/${file}" AND file MATCHES "/level[0-9]+/")
      message(FATAL_ERROR "${place} is no candidate: below levelN/ there are only files NNN_slug.cu. "
        "Rename it, or keep it one folder up.")
    endif()
    return()
  endif()
  if(IS_DIRECTORY "${root}/${file}")
    message(FATAL_ERROR "${place} is a folder, but a name that ends in .cu belongs to a kernel's file: "
      "rename the folder, or put the file in its place.")
  endif()
  if(NOT file MATCHES "^([^/]+)/(([^/]+)/)?level([1-4])/([^/]+)\\.cu$")
    message(FATAL_ERROR "${place} is not where a candidate belongs: "
      "candidates/<run>/[<sample>/]level<1-4>/NNN_slug.cu")
  endif()
  set(run ${CMAKE_MATCH_1})
  set(sample "${CMAKE_MATCH_3}")
  set(level ${CMAKE_MATCH_4})
  set(slug ${CMAKE_MATCH_5})
  kb_check_run_name("${place}" "${run}")
  if(NOT sample STREQUAL "")
    kb_check_run_name("${place}" "${sample}")
  endif()
  kb_check_task("${place}" ${level} "${slug}")
  kb_check_shape("${place}" "${run}" "${sample}")
  kb_add_candidate(RUN ${run} SAMPLE ${sample} LEVEL ${level} TASK ${slug} SOURCE ${place})
endfunction()

# The names of runs and samples become parts of target and test names, and labels.
function(kb_check_run_name place name)
  string(LENGTH "${name}" length)
  if(NOT name MATCHES "^[A-Za-z0-9][A-Za-z0-9_-]*$" OR length GREATER 64)
    message(FATAL_ERROR "${place}: '${name}' is no name for a run or sample: rename it to at most 64 "
      "letters, digits, _ and -, the first a letter or digit.")
  endif()
  if(name MATCHES "^(seed|adversaries|kb|harness|selftest|build|correct|bench|level[0-9]*)$")
    message(FATAL_ERROR "${place}: '${name}' is taken (seed is the run of the shipped candidates, the "
      "others are labels of tests): rename the run or sample.")
  endif()
endfunction()

function(kb_check_task place level slug)
  get_property(tasks GLOBAL PROPERTY KB_TASKS_${level})
  if(NOT tasks)
    message(FATAL_ERROR "${place}: level ${level} has no tasks yet.")
  endif()
  if(NOT slug IN_LIST tasks)
    kb_find_nearest(nearest "${tasks}" "${slug}")
    list(JOIN tasks ".cu\n  " valid)
    message(FATAL_ERROR "${place} matches no task of level ${level}. Its name must be one of:\n"
      "  ${valid}.cu\n${nearest}")
  endif()
endfunction()

# Sets <out> to a sentence with the tasks that have the number of this name, such as 19_ReLU, else its
# first word; to "" without such tasks.
function(kb_find_nearest out tasks name)
  string(TOLOWER "${name}" name)
  string(REGEX MATCH "[1-9][0-9]*" number "${name}")
  string(REGEX MATCH "[a-z]+" word "${name}")
  set(sentence "")
  foreach(pattern IN ITEMS "^0*${number}_" "_${word}")
    set(near ${tasks})
    list(FILTER near INCLUDE REGEX "${pattern}")
    if(near AND NOT pattern STREQUAL "_" AND sentence STREQUAL "")
      list(JOIN near ".cu, " near)
      set(sentence "Nearest: ${near}.cu")
    endif()
  endforeach()
  set(${out} "${sentence}" PARENT_SCOPE)
endfunction()

# In a run with samples, a candidate outside of them would count as one more sample of its task.
function(kb_check_shape place run sample)
  set(shape sample)
  if(sample STREQUAL "")
    set(shape level)
  endif()
  get_property(before GLOBAL PROPERTY KB_SHAPE_${run})
  if(before AND NOT before STREQUAL shape)
    message(FATAL_ERROR "${place}: candidates/${run} has candidates both directly in levelN/ and in sample "
      "folders, so that a task may stand there twice: move its levelN/ into a sample folder, too.")
  endif()
  set_property(GLOBAL PROPERTY KB_SHAPE_${run} ${shape})
endfunction()
