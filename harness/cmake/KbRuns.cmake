# Runs: candidates/<run>/[<sample>/]levelN/NNN_slug.cu, found by their place in the tree.

# kb_add_runs(): one candidate per file, by what find_runs.py says of them.
function(kb_add_runs)
  set(tasks "")
  set(left_out "")
  foreach(level IN ITEMS 1 2 3 4)
    get_property(here GLOBAL PROPERTY KB_TASKS_${level})
    get_property(others GLOBAL PROPERTY KB_TASKS_LEFT_OUT_${level})
    list(TRANSFORM here PREPEND level${level}/)
    list(TRANSFORM others PREPEND level${level}/)
    list(APPEND tasks ${here})
    list(APPEND left_out ${others})
  endforeach()
  kb_look_for_cudnn(have_cudnn)
  set(without "")
  if(KB_BACKEND STREQUAL cuda AND NOT have_cudnn)
    set(without --without-cudnn)
  endif()
  file(REMOVE_RECURSE ${PROJECT_BINARY_DIR}/refused)
  set(finder ${PROJECT_SOURCE_DIR}/harness/cmake/find_runs.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${finder})
  execute_process(COMMAND ${Python3_EXECUTABLE} ${finder} --candidates ${PROJECT_SOURCE_DIR}/candidates
      --refused ${PROJECT_BINARY_DIR}/refused --out ${PROJECT_BINARY_DIR}/runs.cmake "--runs=${KB_RUNS}"
      "--tasks=${tasks}" "--left-out=${left_out}" "--headers=${KB_HEADERS}" ${without}
    RESULT_VARIABLE status ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${said}")
  endif()
  include(${PROJECT_BINARY_DIR}/runs.cmake)
endfunction()

# All mistakes of a run are told here, and again by the target kb_run.<run> and the test <run>.files, which fail.
function(kb_refuse_run run)
  set(about ${PROJECT_BINARY_DIR}/refused/${run}.txt)
  file(READ ${about} mistakes)
  message(WARNING "${mistakes}No kernel of this run is configured; other runs are.")
  set(tell ${CMAKE_COMMAND} -D ABOUT=${about} -P ${PROJECT_SOURCE_DIR}/harness/cmake/TellMistakes.cmake)
  add_custom_target(kb_run.${run} COMMAND ${tell})
  add_test(NAME ${run}.files COMMAND ${tell})
  set_tests_properties(${run}.files PROPERTIES LABELS ${run})
endfunction()

# kb_run_facts(<run> <out>): the run's run.json, checked, or {}. The run seed has none: its kernels lie beside the tasks.
function(kb_run_facts run out)
  get_property(facts GLOBAL PROPERTY KB_FACTS_${run})
  if(run STREQUAL seed)
    set(facts "{\"headers\": [\"kb\"]}")
  elseif("${facts}" STREQUAL "")
    set(facts "{}")
  endif()
  set(${out} "${facts}" PARENT_SCOPE)
endfunction()
