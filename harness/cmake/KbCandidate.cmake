# Candidates: one .cu becomes one module and three chained tests.

# kb_add_candidate(RUN <run> [SAMPLE <sample>] LEVEL <n> TASK <slug> SOURCE <path below the source dir>
#   [HIDDEN <global property>]): HIDDEN candidates are of no run: no tests of their own, no place in manifest.json; the
#   property lists them.
function(kb_add_candidate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "RUN;SAMPLE;LEVEL;TASK;SOURCE;HIDDEN" "")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kb_add_candidate: unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(task level${arg_LEVEL}.${arg_TASK})
  set(run ${arg_RUN})
  set(folder ${arg_RUN})
  if(NOT "${arg_SAMPLE}" STREQUAL "")
    string(APPEND run .${arg_SAMPLE})
    string(APPEND folder /${arg_SAMPLE})
  endif()
  set(name ${run}.${task})

  add_library(${name} MODULE ${arg_SOURCE})
  set_target_properties(${name} PROPERTIES PREFIX "" OUTPUT_NAME ${task} DEFINE_SYMBOL ""
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/modules/${folder})
  kb_run_library(${arg_RUN} library)
  kb_use_library(${name} ${library})
  kb_run_headers(${arg_RUN} headers)
  kb_set_candidate_flags(${name} ${arg_SOURCE} level${arg_LEVEL}/${arg_TASK} ${library} "${headers}")
  set(results results)
  if(arg_HIDDEN)
    set(results hidden)
    set_property(GLOBAL APPEND PROPERTY ${arg_HIDDEN} ${name})
  else()
    set(labels level${arg_LEVEL} ${arg_RUN} ${run})
    if(arg_RUN STREQUAL examples)
      # Most of them fail on purpose; whoever judges a level must not meet them as failures.
      set(labels examples)
    endif()
    list(REMOVE_DUPLICATES labels)
    kb_add_candidate_tests(${name} ${task} "${labels}")
    set_property(GLOBAL APPEND PROPERTY KB_CANDIDATES ${name})
  endif()
  set_target_properties(${name} PROPERTIES KB_RUN ${arg_RUN} KB_SAMPLE "${arg_SAMPLE}"
    KB_LEVEL ${arg_LEVEL} KB_TASK ${arg_TASK} KB_SOURCE ${arg_SOURCE}
    KB_MODULE modules/${folder}/${task}.so KB_RESULT ${results}/${folder}/level${arg_LEVEL}/${arg_TASK}.json)
endfunction()

# How a candidate is compiled: through the launcher, seeing only its task.h, the contract and declared headers.
function(kb_set_candidate_flags name source task_dir library headers)
  set(contract ${PROJECT_SOURCE_DIR}/harness/contract)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/${task_dir} ${contract}/include)
  # NVTX, in CUB too, would have every module load a library at run time.
  target_compile_definitions(${name} PRIVATE ${KB_CONTRACT_DEFINITION} CCCL_DISABLE_NVTX NVTX_DISABLE)
  add_dependencies(${name} kb_toolchain)
  set(launcher $<TARGET_FILE:kb_cc> --stub ${KB_STUB} --policy ${library} --root ${PROJECT_SOURCE_DIR}
    --allow-file ${PROJECT_SOURCE_DIR}/${source} --allow-file ${PROJECT_SOURCE_DIR}/${task_dir}/task.h
    --allow-read ${contract})
  if(source STREQUAL ${task_dir}/candidate.cu)  # a shipped one may share the source of its architecture
    get_filename_component(level_dir ${PROJECT_SOURCE_DIR}/${task_dir} DIRECTORY)
    if(IS_DIRECTORY ${level_dir}/architectures)
      list(APPEND launcher --allow-read ${level_dir}/architectures)
    endif()
  endif()
  kb_use_headers(${name} "${headers}" header_options)
  list(APPEND launcher ${header_options})
  set(link_options -Wl,--version-script=${PROJECT_SOURCE_DIR}/harness/sandbox/build/module.map)
  if(KB_LINKER STREQUAL -fuse-ld=lld AND NOT KB_BACKEND STREQUAL cuda)
    list(APPEND link_options -Wl,--no-dependent-libraries)  # an object names no further inputs
  endif()
  target_link_options(${name} PRIVATE ${link_options})
  set(link ${CMAKE_CXX_COMPILER} -shared ${KB_LINKER} ${link_options})
  string(REPLACE ";" "\;" link "${link}")
  list(APPEND launcher --link "${link}" --allow-file ${PROJECT_SOURCE_DIR}/harness/sandbox/build/module.map)
  if(library STREQUAL cudnn AND KB_CUDNN_INCLUDE)
    list(APPEND launcher --allow-read ${KB_CUDNN_INCLUDE})
  endif()
  if(KB_CUOBJDUMP)
    list(APPEND launcher --cuobjdump ${KB_CUOBJDUMP})
  endif()
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden
    JOB_POOL_COMPILE kb_candidates)
  if(KB_BACKEND STREQUAL cuda)
    target_compile_options(${name} PRIVATE "SHELL:-include \"${contract}/entry.h\""
      "SHELL:-Xptxas -v" -lineinfo --expt-relaxed-constexpr)
    set_target_properties(${name} PROPERTIES CUDA_RUNTIME_LIBRARY Shared
      CUDA_COMPILER_LAUNCHER "${launcher};--")
  else()
    set_source_files_properties(${source} PROPERTIES LANGUAGE CXX)
    target_compile_options(${name} PRIVATE "SHELL:-include cuda_runtime.h"
      "SHELL:-include \"${contract}/entry.h\"")
    target_link_libraries(${name} PRIVATE kb_cudacpu)
    get_target_property(cpu_includes kb_cudacpu INTERFACE_INCLUDE_DIRECTORIES)
    foreach(folder IN LISTS cpu_includes)
      list(APPEND launcher --allow-read ${folder})
    endforeach()
    set(check "")
    if(KB_NVCC)
      # -cuda: the host's compiler has had it already.
      set(check ${KB_NVCC} -std=c++17 --expt-relaxed-constexpr ${KB_NVCC_SYNTAX} -cuda)
      if(KB_CUDA_CHECK STREQUAL machine_code)
        set(check ${KB_NVCC} -std=c++17 --expt-relaxed-constexpr -arch=${KB_CUDA_CHECK_ARCH} -Xptxas -v -c)
      endif()
    elseif(KB_CLANG)
      get_target_property(syntax_check kb_cudacpu KB_SYNTAX_CHECK)
      list(TRANSFORM cpu_includes PREPEND -I)
      set(check ${KB_CLANG} -fsyntax-only ${syntax_check} ${cpu_includes})
    endif()
    if(check)
      list(APPEND check -D${KB_CONTRACT_DEFINITION} -DCCCL_DISABLE_NVTX -DNVTX_DISABLE -I${PROJECT_SOURCE_DIR}/${task_dir} -I${contract}/include
        -include ${contract}/entry.h)
      foreach(each IN LISTS headers)
        list(APPEND check -I${KB_HEADERS_${each}})
        if(KB_NVCC)
          list(APPEND check ${KB_HEADERS_${each}_NVCC_OPTIONS})
        endif()
      endforeach()
      string(REPLACE ";" "\;" check "${check}")
      list(APPEND launcher --cuda-check "${check}")
    endif()
    set_target_properties(${name} PROPERTIES CXX_STANDARD 17
      CXX_COMPILER_LAUNCHER "${launcher};--;$<TARGET_FILE:cu2cpp>")
  endif()
endfunction()

# <name>.build -> <name>.correct -> <name>.bench [-> <name>.profile]: a step that fails leaves the next one out.
function(kb_add_candidate_tests name task labels)
  set(entry --manifest ${PROJECT_BINARY_DIR}/manifest.json --candidate ${name})
  add_test(NAME ${name}.build COMMAND kb_check_build ${entry})
  add_test(NAME ${name}.correct COMMAND ${task}.test ${entry})
  add_test(NAME ${name}.bench COMMAND ${task}.bench ${entry})
  set_tests_properties(${name}.build PROPERTIES LABELS "${labels};build"
    FIXTURES_SETUP ${name}.built FIXTURES_REQUIRED "kb.env;kb.report" SKIP_RETURN_CODE 77)
  set_tests_properties(${name}.correct PROPERTIES LABELS "${labels};correct"
    FIXTURES_SETUP ${name}.right FIXTURES_REQUIRED "kb.env;kb.report;${name}.built"
    SKIP_RETURN_CODE 77 TIMEOUT 600)
  set_tests_properties(${name}.bench PROPERTIES LABELS "${labels};bench"
    FIXTURES_REQUIRED "kb.env;kb.peaks;kb.report;${name}.right" SKIP_RETURN_CODE 77 TIMEOUT 900)
  kb_take_turns(${name}.correct ${name}.bench)
  set(steps build correct bench)
  if(KB_PROFILE STREQUAL ncu)
    list(APPEND steps profile)
    add_test(NAME ${name}.profile COMMAND kb_profile ${entry} --ncu ${KB_NCU})
    set_property(TEST ${name}.bench APPEND PROPERTY FIXTURES_SETUP ${name}.timed)
    set_tests_properties(${name}.profile PROPERTIES LABELS "${labels};profile"
      FIXTURES_REQUIRED "kb.env;kb.peaks;kb.report;${name}.timed" SKIP_RETURN_CODE 77 TIMEOUT 700)
    kb_take_turns(${name}.profile)
  endif()
  # Whoever else judges this candidate (kb.example.*) writes the same result file.
  foreach(step IN LISTS steps)
    set_property(TEST ${name}.${step} APPEND PROPERTY RESOURCE_LOCK result.${name})
  endforeach()
endfunction()

# Tests that need a GPU for themselves.
function(kb_use_gpu)
  kb_take_slots(2 ${ARGN})
endfunction()

# Judges. Each has its GPU alone, too: a candidate may fill its memory. But they wait for one another by themselves
# (harness/judge/device/gpu_turn.h), so that the next one's program loads while one has the GPU.
function(kb_take_turns)
  kb_take_slots(1 ${ARGN})
  # Whoever waits longest waits for a .bench, which ends itself (require_time() of harness/judge/bench/plan.h); no test fails
  # because another one took its time.
  set(longest_turn 900)
  foreach(test IN LISTS ARGN)
    get_test_property(${test} TIMEOUT limit)
    math(EXPR limit "${limit} + ${longest_turn}")
    set_tests_properties(${test} PROPERTIES TIMEOUT ${limit})
  endforeach()
endfunction()

# kb_slot_properties(<slots> <out>): the properties, with their values, of a test that takes so many slots of a GPU. From
# CMake 3.28 on, kb.env generates the list of GPUs, each with two slots; before, there is one lock.
function(kb_slot_properties slots out)
  set(properties "")
  if(KB_BACKEND STREQUAL cuda AND CMAKE_VERSION VERSION_GREATER_EQUAL 3.28)
    # CTest refuses the whole run if one such test does not ask for the list of GPUs.
    set(properties RESOURCE_GROUPS gpus:${slots} FIXTURES_REQUIRED kb.env)
  elseif(KB_BACKEND STREQUAL cuda)
    set(properties RESOURCE_LOCK kb_gpu)
  endif()
  set(${out} "${properties}" PARENT_SCOPE)
endfunction()

# The properties of kb_slot_properties(), beside what the tests have of the kind.
function(kb_take_slots slots)
  kb_slot_properties(${slots} properties)
  while(properties)
    list(POP_FRONT properties name value)
    set_property(TEST ${ARGN} APPEND PROPERTY ${name} ${value})
  endwhile()
endfunction()
