# LibTorch as the imported target kb_torch, taken from a PyTorch wheel.
#
# find_package(Torch) is avoided on purpose: it demands a CUDA toolkit even for a CPU build and
# rewrites the global CUDA flags.
set(KB_TORCH_MINIMUM 2.7)  # wheels of PyPI before it have the C++ ABI of GCC 4
set(KB_TORCH_DIR "" CACHE PATH "The torch/ directory of a PyTorch wheel (site-packages/torch)")

function(kb_find_torch out)
  if(KB_TORCH_DIR)
    set(candidates ${KB_TORCH_DIR})
  else()
    file(GLOB candidates ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
    execute_process(
      COMMAND python3 -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
      OUTPUT_VARIABLE active OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    list(APPEND candidates ${active})
  endif()
  foreach(dir IN LISTS candidates)
    if(EXISTS ${dir}/include/ATen/ATen.h AND EXISTS ${dir}/lib/libtorch_cpu.so)
      set(${out} ${dir} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  list(JOIN candidates " or " places)
  message(FATAL_ERROR "LibTorch was not found (${places}). Run tools/quickstart, which installs the "
    "PyTorch wheel into .venv, or pass -DKB_TORCH_DIR=<site-packages>/torch.")
endfunction()

kb_find_torch(KB_TORCH_ROOT)
file(READ ${KB_TORCH_ROOT}/version.py version_text)
string(REGEX MATCH "__version__ = '([^']+)'" _ "${version_text}")
set(KB_TORCH_VERSION ${CMAKE_MATCH_1})
string(REGEX MATCH "^[0-9.]+" version_number "${KB_TORCH_VERSION}")
if(version_number VERSION_LESS KB_TORCH_MINIMUM)
  message(FATAL_ERROR "LibTorch '${KB_TORCH_VERSION}' in ${KB_TORCH_ROOT} is too old: ${KB_TORCH_MINIMUM} "
    "or newer is needed. Run tools/quickstart or set KB_TORCH_DIR.")
endif()
message(STATUS "LibTorch ${KB_TORCH_VERSION}: ${KB_TORCH_ROOT}")

# kb_check_cuda_torch(): set up without a GPU, the wheel is there but not the NVIDIA libraries that it needs,
# and programs linked with it would only fail when they start.
function(kb_check_cuda_torch)
  set(library ${KB_TORCH_ROOT}/lib/libtorch_cuda.so)
  if(NOT EXISTS ${library})
    message(FATAL_ERROR "The PyTorch wheel in ${KB_TORCH_ROOT} has no CUDA support. Install one that "
      "has (pip install torch) or set KB_TORCH_DIR.")
  endif()
  execute_process(COMMAND ldd ${library} OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCHALL "[^ \t\n]+ => not found" missing "${text}")
  # The driver's; a machine that only builds may lack it.
  list(FILTER missing EXCLUDE REGEX "^(libcuda|libnvidia-ml)\\.so")
  if(missing)
    list(TRANSFORM missing REPLACE " .*" "")
    list(JOIN missing ", " missing)
    get_filename_component(preset ${PROJECT_BINARY_DIR} NAME)
    message(FATAL_ERROR "The PyTorch wheel in ${KB_TORCH_ROOT} lacks libraries that it needs on a GPU "
      "(${missing}). Run KB_PRESET=${preset} tools/quickstart, which installs them into .venv, or set "
      "KB_TORCH_DIR to a complete one.")
  endif()
endfunction()

function(kb_import_torch_library name)
  add_library(kb_torch_${name} SHARED IMPORTED GLOBAL)
  set_target_properties(kb_torch_${name} PROPERTIES
    IMPORTED_LOCATION ${KB_TORCH_ROOT}/lib/lib${name}.so IMPORTED_NO_SONAME FALSE)
  target_link_libraries(kb_torch INTERFACE kb_torch_${name})
endfunction()

add_library(kb_torch INTERFACE)
target_include_directories(kb_torch SYSTEM INTERFACE ${KB_TORCH_ROOT}/include)
# Some of its classes have more members without it, and the wheel was built with it.
target_compile_definitions(kb_torch INTERFACE NDEBUG)
kb_import_torch_library(torch_cpu)
kb_import_torch_library(c10)
if(KB_BACKEND STREQUAL cuda)
  kb_check_cuda_torch()
  # Nothing refers to libtorch_cuda by name, but loading it registers the CUDA kernels.
  target_link_options(kb_torch INTERFACE -Wl,--no-as-needed)
  kb_import_torch_library(torch_cuda)
  kb_import_torch_library(c10_cuda)
  target_link_libraries(kb_torch INTERFACE CUDA::cudart)
endif()
# The wheel's libraries find each other and the nvidia wheels through their own RUNPATH.
target_link_options(kb_torch INTERFACE -Wl,--allow-shlib-undefined)
