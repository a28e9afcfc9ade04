# The test kb.env as a script: on a tree that is not built it says so, instead of a missing program.
if(NOT EXISTS ${ENV_PROGRAM})
  cmake_path(GET PRESET_DIR FILENAME preset)
  message(FATAL_ERROR "${PRESET_DIR} is not built: run cmake --build --preset ${preset} first.")
endif()
execute_process(COMMAND ${ENV_PROGRAM} --manifest ${PRESET_DIR}/manifest.json RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "kb_env ended with ${status}; its message above says what to do.")
endif()
