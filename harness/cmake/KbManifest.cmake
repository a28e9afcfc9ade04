# The manifest of what is configured, and the tests around all candidates: kb.env first, kb.report last.

# kb_add_report(): writes manifest.json, adds the targets kb_suite and kb_sources and the fixture tests.
function(kb_add_report)
  kb_write_manifest(manifest.json KB_CANDIDATES)
  kb_add_suite()
  kb_add_sources()
  add_test(NAME kb.env COMMAND ${CMAKE_COMMAND} -DPRESET_DIR=${PROJECT_BINARY_DIR}
    -DENV_PROGRAM=$<TARGET_FILE:kb_env> -P ${PROJECT_SOURCE_DIR}/harness/cmake/RunEnv.cmake)
  set_tests_properties(kb.env PROPERTIES FIXTURES_SETUP kb.env TIMEOUT 120
    GENERATED_RESOURCE_SPEC_FILE ${PROJECT_BINARY_DIR}/gpus.json)
  if(KB_BACKEND STREQUAL cuda)
    add_test(NAME kb.peaks COMMAND kb_peaks --manifest ${PROJECT_BINARY_DIR}/manifest.json)
    # It measures every GPU in turn, so it has all of them: it runs alone.
    set_tests_properties(kb.peaks PROPERTIES FIXTURES_SETUP kb.peaks FIXTURES_REQUIRED kb.env TIMEOUT 300
      RUN_SERIAL TRUE)
  endif()
  add_test(NAME kb.report COMMAND ${Python3_EXECUTABLE} -m kb_report rollup --build-dir ${PROJECT_BINARY_DIR})
  # 77: all is written but the page, which needs Jinja2.
  set_tests_properties(kb.report PROPERTIES FIXTURES_CLEANUP kb.report TIMEOUT 300 SKIP_RETURN_CODE 77
    ENVIRONMENT_MODIFICATION "PYTHONPATH=path_list_prepend:${PROJECT_SOURCE_DIR}/reports")
endfunction()

# The target kb_suite: what judging needs, without the project's own tests.
function(kb_add_suite)
  add_custom_target(kb_programs)  # for any kernel
  add_dependencies(kb_programs kb_env kb_check_build kb_runner)
  if(KB_BACKEND STREQUAL cuda)
    add_dependencies(kb_programs kb_peaks)
  endif()
  if(KB_PROFILE STREQUAL ncu)
    add_dependencies(kb_programs kb_profile kb_profiled)
  endif()
  add_custom_target(kb_suite)
  add_dependencies(kb_suite kb_programs kb_generate kb_judge_kernel kb_toolchain)
  foreach(level IN ITEMS 1 2 3 4)
    get_property(slugs GLOBAL PROPERTY KB_TASKS_${level})
    foreach(slug IN LISTS slugs)
      add_dependencies(kb_suite level${level}.${slug}.test level${level}.${slug}.bench)
    endforeach()
  endforeach()
  get_property(names GLOBAL PROPERTY KB_CANDIDATES)
  if(names)
    add_dependencies(kb_suite ${names})
  endif()
  foreach(name IN LISTS names)
    kb_add_to_run_targets(${name})
  endforeach()
endfunction()

# The targets kb_run.<run> and kb_run.<run>.<sample>: what judging these candidates needs, for tools/judge.
function(kb_add_to_run_targets name)
  foreach(field IN ITEMS RUN SAMPLE LEVEL TASK)
    get_target_property(${field} ${name} KB_${field})
  endforeach()
  set(targets kb_run.${RUN})
  if(NOT SAMPLE MATCHES "^$|-NOTFOUND$")
    list(APPEND targets kb_run.${RUN}.${SAMPLE})
  endif()
  foreach(target IN LISTS targets)
    if(NOT TARGET ${target})
      add_custom_target(${target})
      add_dependencies(${target} kb_programs)
    endif()
    add_dependencies(${target} ${name} level${LEVEL}.${TASK}.test level${LEVEL}.${TASK}.bench)
  endforeach()
endfunction()

# The target kb_sources: sources.sha256, a line for each file of harness and tasks that decides verdicts. Binaries are
# another for each GPU and folder; reports belong together if these files are the same.
function(kb_add_sources)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/harness/*)
  file(STRINGS ${PROJECT_SOURCE_DIR}/harness/without_verdict.txt folders REGEX "^[a-z]")
  list(JOIN folders "|" folders)
  # Nor what editors leave behind, which may be gone when it is to be hashed.
  list(FILTER sources EXCLUDE REGEX "^harness/(${folders})/|\\.md$|/without_verdict\\.txt$|/[.#][^/]*$|~$")
  foreach(level IN ITEMS 1 2 3 4)
    file(GLOB shared CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
      ${PROJECT_SOURCE_DIR}/level${level}/architectures/*.h)
    list(APPEND sources ${shared})
    get_property(slugs GLOBAL PROPERTY KB_TASKS_${level})
    foreach(slug IN LISTS slugs)
      list(APPEND sources level${level}/${slug}/task.h level${level}/${slug}/reference.cpp)
    endforeach()
  endforeach()
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE files)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/sources.sha256
    COMMAND ${CMAKE_COMMAND} -E sha256sum ${sources} > ${PROJECT_BINARY_DIR}/sources.sha256
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DEPENDS ${files} COMMENT "Hashing harness and tasks" VERBATIM)
  add_custom_target(kb_sources DEPENDS ${PROJECT_BINARY_DIR}/sources.sha256)
  add_dependencies(kb_judge kb_sources)  # whoever builds what judges brings it up to date
endfunction()

# kb_write_manifest(<file in the build folder> <global property with the candidates' names>)
function(kb_write_manifest file property)
  set(levels "{}")
  foreach(level IN ITEMS 1 2 3 4)
    get_property(slugs GLOBAL PROPERTY KB_TASKS_${level})
    list(TRANSFORM slugs REPLACE "(.+)" "\"\\1\"")
    list(JOIN slugs "," slugs)
    string(JSON levels SET "${levels}" ${level} "{\"tasks\": [${slugs}]}")
  endforeach()

  set(runs "{}")
  set(entries "")
  get_property(names GLOBAL PROPERTY ${property})
  foreach(name IN LISTS names)
    kb_describe_candidate(${name} entry)
    list(APPEND entries "${entry}")
    get_target_property(run ${name} KB_RUN)
    string(JSON known ERROR_VARIABLE missing GET "${runs}" ${run})
    if(missing)
      kb_run_facts(${run} facts)
      string(JSON runs SET "${runs}" ${run} "${facts}")
    endif()
  endforeach()
  list(JOIN entries ",\n  " entries)

  kb_list_harness(harness)
  list(TRANSFORM KB_LANES REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE lanes)
  list(JOIN lanes ", " lanes)
  get_filename_component(preset ${PROJECT_BINARY_DIR} NAME)
  string(REPLACE "\\" "\\\\" chosen "${KB_TASKS}")
  string(REPLACE "\"" "\\\"" chosen "${chosen}")
  # Written only when it changes, so that a new configure run makes nothing stale.
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${file} @ONLY CONTENT [[{
"schema": 1,
"version": "@PROJECT_VERSION@",
"preset": "@preset@",
"backend": "@KB_BACKEND@",
"sanitize": "@KB_SANITIZE@",
"contract": "@KB_CONTRACT@",
"sizes": "@KB_SIZES@",
"required_isolation": "@KB_REQUIRE_ISOLATION@",
"chosen_tasks": "@chosen@",
"lanes": [@lanes@],
"harness": [@harness@],
"torch": "@KB_TORCH_VERSION@",
"cuda_architectures": "@CMAKE_CUDA_ARCHITECTURES@",
"source_dir": "@PROJECT_SOURCE_DIR@",
"build_dir": "@PROJECT_BINARY_DIR@",
"levels": @levels@,
"runs": @runs@,
"candidates": [
  @entries@
]}
]])
endfunction()

# The programs and libraries of the property KB_HARNESS, as JSON strings in one order.
function(kb_list_harness out)
  get_property(targets GLOBAL PROPERTY KB_HARNESS)
  list(SORT targets)
  set(files "")
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL EXECUTABLE)
      list(APPEND files "\"bin/${target}\"")
    else()
      list(APPEND files "\"lib/lib${target}.so\"")
    endif()
  endforeach()
  list(JOIN files ", " files)
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

function(kb_describe_candidate name out)
  foreach(field IN ITEMS RUN SAMPLE LEVEL TASK SOURCE MODULE RESULT LIBRARY HEADERS PRELOAD)
    get_target_property(${field} ${name} KB_${field})
  endforeach()
  set(preload "")
  if(PRELOAD)
    list(TRANSFORM PRELOAD REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE preload)
    list(JOIN preload ", " preload)
  endif()
  set(headers "")
  if(HEADERS)
    list(TRANSFORM HEADERS REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE headers)
    list(JOIN headers ", " headers)
  endif()
  set(sample null)
  if(NOT SAMPLE MATCHES "^$|-NOTFOUND$")
    set(sample "\"${SAMPLE}\"")
  endif()
  set(object CMakeFiles/${name}.dir/${SOURCE}.o)
  set(${out} "{\"name\": \"${name}\", \"run\": \"${RUN}\", \"sample\": ${sample}, \"level\": ${LEVEL}, \
\"task\": \"${TASK}\", \"source\": \"${SOURCE}\", \"module\": \"${MODULE}\", \
\"build_json\": \"${object}.build.json\", \"result\": \"${RESULT}\", \"library\": \"${LIBRARY}\", \
\"headers\": [${headers}], \
\"preload\": [${preload}]}" PARENT_SCOPE)
endfunction()
