# libseccomp as the target kb_seccomp, linked statically where possible: a candidate shares the runner's process, not its
# libraries.
include(FindPackageHandleStandardArgs)
find_path(KB_SECCOMP_INCLUDE seccomp.h)
find_library(KB_SECCOMP_LIBRARY NAMES libseccomp.a seccomp)
find_package_handle_standard_args(KbSeccomp REQUIRED_VARS KB_SECCOMP_LIBRARY KB_SECCOMP_INCLUDE)
if(KbSeccomp_FOUND)
  add_library(kb_seccomp INTERFACE)
  target_include_directories(kb_seccomp INTERFACE ${KB_SECCOMP_INCLUDE})
  target_link_libraries(kb_seccomp INTERFACE ${KB_SECCOMP_LIBRARY})
endif()
