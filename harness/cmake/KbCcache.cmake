# ccache, where it is installed: another build folder, clone or branch compiles only what differs. Candidates have a
# launcher of their own and are always compiled, since how long that takes is part of their result.
find_program(KB_CCACHE ccache)
mark_as_advanced(KB_CCACHE)
if(KB_CCACHE)
  # The cache sees paths relative to the project. The precompiled ATen needs what the other settings and the flag say.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${KB_CCACHE})
  target_compile_options(kb_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()
