# Headers beyond CUDA's own: a run declares in its run.json which ones its kernels may include.

# Every name that a run may declare, and the folder that its headers are included from.
set(KB_HEADERS kb torch)
set(KB_HEADERS_kb ${PROJECT_SOURCE_DIR}/harness/blocks/include)
set(KB_HEADERS_torch ${PROJECT_SOURCE_DIR}/harness/blocks/torch_names/include)
# What PyTorch hands to nvcc and extensions rely on, such as std::numeric_limits in kernels.
set(KB_HEADERS_torch_NVCC_OPTIONS --expt-relaxed-constexpr)

# kb_run_headers(<run> <out>): the list of names that the run declares, empty by default.
function(kb_run_headers run out)
  kb_run_facts(${run} facts)
  set(names "")
  string(JSON count ERROR_VARIABLE missing LENGTH "${facts}" headers)
  while(NOT missing AND count GREATER 0)
    math(EXPR count "${count} - 1")
    string(JSON name GET "${facts}" headers ${count})
    list(PREPEND names ${name})
  endwhile()
  list(REMOVE_DUPLICATES names)
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# Lets a candidate include its run's headers: sets <out> to options of kb_cc, which refuses all others.
function(kb_use_headers name headers out)
  set_target_properties(${name} PROPERTIES KB_HEADERS "${headers}")
  set(options "")
  foreach(each IN LISTS KB_HEADERS)
    if(each IN_LIST headers)
      target_include_directories(${name} PRIVATE ${KB_HEADERS_${each}})
      if(KB_BACKEND STREQUAL cuda)
        target_compile_options(${name} PRIVATE ${KB_HEADERS_${each}_NVCC_OPTIONS})
      endif()
      list(APPEND options --headers ${each}=${KB_HEADERS_${each}})
    else()
      list(APPEND options --undeclared-headers ${each}=${KB_HEADERS_${each}})
    endif()
  endforeach()
  set(${out} "${options}" PARENT_SCOPE)
endfunction()
