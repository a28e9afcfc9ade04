# Vendor libraries: a run declares in its run.json which one its kernels may call.

# kb_run_library(<run> <out>): none, cublas, or cudnn, which includes cuBLAS.
function(kb_run_library run out)
  kb_run_facts(${run} facts)
  string(JSON library ERROR_VARIABLE missing GET "${facts}" library)
  if(missing)
    set(library none)
  endif()
  set(${out} ${library} PARENT_SCOPE)
endfunction()

# Headers and libraries for a candidate. Without a GPU there are none: cu2cpp refuses their calls by name.
function(kb_use_library name library)
  set_target_properties(${name} PROPERTIES KB_LIBRARY ${library})
  if(library STREQUAL none OR NOT KB_BACKEND STREQUAL cuda)
    return()
  endif()
  set(libraries CUDA::cublasLt CUDA::cublas)
  if(library STREQUAL cudnn)
    kb_find_cudnn()
    list(APPEND libraries kb_cudnn)
  endif()
  target_link_libraries(${name} PRIVATE ${libraries})
  # The runner loads them before its walls stand; behind them nothing more can be loaded.
  set(files "")
  foreach(part IN LISTS libraries)
    get_target_property(file ${part} IMPORTED_LOCATION)
    get_target_property(parts ${part} KB_PARTS)
    if(parts)
      list(APPEND files ${parts})
    endif()
    list(APPEND files ${file})
  endforeach()
  set_property(TARGET ${name} PROPERTY KB_PRELOAD "${files}")
endfunction()

# The target kb_cudnn, from the system or from the package that came with LibTorch's wheel. Version 9 loads
# its parts when they are needed: they are named in KB_PARTS.
function(kb_find_cudnn)
  if(TARGET kb_cudnn)
    return()
  endif()
  kb_look_for_cudnn(found)  # find_runs.py refuses runs that need what is not there
  cmake_path(GET KB_CUDNN_LIBRARY PARENT_PATH folder)
  file(GLOB parts ${folder}/libcudnn_*.so.9)
  add_library(kb_cudnn SHARED IMPORTED GLOBAL)
  set_target_properties(kb_cudnn PROPERTIES IMPORTED_LOCATION ${KB_CUDNN_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${KB_CUDNN_INCLUDE} KB_PARTS "${parts}")
endfunction()

# Sets <out> to whether cuDNN is here. Without a GPU nobody needs it, and nobody looks.
function(kb_look_for_cudnn out)
  set(${out} FALSE PARENT_SCOPE)
  if(NOT KB_BACKEND STREQUAL cuda)
    return()
  endif()
  set(wheel ${KB_TORCH_ROOT}/../nvidia/cudnn)
  find_path(KB_CUDNN_INCLUDE cudnn.h HINTS ${wheel}/include)
  find_library(KB_CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 HINTS ${wheel}/lib)
  if(KB_CUDNN_INCLUDE AND KB_CUDNN_LIBRARY)
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()
