# What tasks and kernels that are gone have left in the build folder.

# kb_remove_leftovers(): removes what was built of sources that are not in the tree any more, and their results. What is
# only not chosen (KB_TASKS, KB_RUNS), or belongs to a run that is refused, still has its sources and stays.
function(kb_remove_leftovers)
  if(NOT IS_DIRECTORY ${PROJECT_SOURCE_DIR}/candidates)
    return()
  endif()
  set(build ${PROJECT_BINARY_DIR})
  file(GLOB of_tasks LIST_DIRECTORIES false RELATIVE ${build} ${build}/bin/level*.test ${build}/bin/level*.bench
    ${build}/lib/tasks/level*.so ${build}/validity/level*.json)
  file(GLOB objects LIST_DIRECTORIES true RELATIVE ${build} ${build}/CMakeFiles/*level[1-4].*.dir)
  file(GLOB_RECURSE of_kernels RELATIVE ${build} ${build}/modules/*.so ${build}/results/* ${build}/reports/feedback/*)
  foreach(file IN LISTS of_tasks objects of_kernels)
    kb_find_source(source "${file}")
    if(source AND NOT EXISTS ${PROJECT_SOURCE_DIR}/${source})
      file(REMOVE_RECURSE ${build}/${file})
      kb_remove_empty_folders(${build} "${file}")
    endif()
  endforeach()
  file(GLOB of_runs LIST_DIRECTORIES true RELATIVE ${build} ${build}/runs/* ${build}/reports/kernelbench/runs/*)
  foreach(folder IN LISTS of_runs)
    cmake_path(GET folder FILENAME run)
    if(folder MATCHES "^reports/")
      string(REGEX REPLACE "_level[1-4]$" "" run "${run}")  # KernelBench's files know no levels
    endif()
    if(NOT run STREQUAL seed AND NOT EXISTS ${PROJECT_SOURCE_DIR}/candidates/${run})
      file(REMOVE_RECURSE ${build}/${folder})
    endif()
  endforeach()
endfunction()

# Sets <out> to the source that a file or folder of the build comes from; to "" if that is none of a task or a run.
function(kb_find_source out file)
  set(${out} "" PARENT_SCOPE)
  set(slug "level([1-4])[./]([a-z0-9_]+)")
  foreach(pattern IN ITEMS "^modules/(.+)/${slug}\\.so$" "^results/(.+)/${slug}\\.[a-z.]+$"
      "^reports/feedback/(.+)/${slug}\\.(json|md)$"
      "^CMakeFiles/([^/]+)\\.${slug}\\.dir$" "^[a-zA-Z/]+/()${slug}(\\.test|\\.bench)?(\\.so|\\.json|\\.dir)?$")
    if(NOT file MATCHES "${pattern}")
      continue()
    endif()
    string(REPLACE . / run "${CMAKE_MATCH_1}")  # names of runs and samples hold no dot
    set(task level${CMAKE_MATCH_2}/${CMAKE_MATCH_3})
    if(run STREQUAL "")
      set(${out} ${task}/task.h PARENT_SCOPE)
    elseif(run STREQUAL seed)
      set(${out} ${task}/candidate.cu PARENT_SCOPE)
    elseif(NOT run MATCHES "^(adversaries/|kb_pattern_)")
      set(${out} candidates/${run}/${task}.cu PARENT_SCOPE)
    endif()
    return()
  endforeach()
endfunction()

# The folders around a removed file, as far as nothing is left in them.
function(kb_remove_empty_folders root file)
  cmake_path(GET file PARENT_PATH folder)
  while(folder MATCHES "/")
    file(GLOB left ${root}/${folder}/*)
    if(left)
      return()
    endif()
    file(REMOVE_RECURSE ${root}/${folder})
    cmake_path(GET folder PARENT_PATH folder)
  endwhile()
endfunction()
