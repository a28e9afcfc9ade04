# The Python of reports and tests: of .venv if tools/quickstart has made one, else the first on PATH.
set(KB_PYTHON_MINIMUM 3.10)
if(NOT Python3_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python3)
  set(Python3_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python3)
endif()
find_package(Python3 ${KB_PYTHON_MINIMUM} QUIET COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  message(FATAL_ERROR "No Python ${KB_PYTHON_MINIMUM} or newer was found, which makes the reports. Run "
    "tools/quickstart, or pass -DPython3_EXECUTABLE=<path>.")
endif()
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import jinja2" RESULT_VARIABLE no_jinja2
  ERROR_QUIET OUTPUT_QUIET)
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import fastjsonschema" RESULT_VARIABLE no_schemas
  ERROR_QUIET OUTPUT_QUIET)
if(no_schemas)
  message(FATAL_ERROR "${Python3_EXECUTABLE} has no fastjsonschema, with which reports check results. Run "
    "tools/quickstart, or: ${Python3_EXECUTABLE} -m pip install -r tools/report-requirements.txt")
endif()
if(no_jinja2)
  message(WARNING "${Python3_EXECUTABLE} has no Jinja2, so reports will lack index.html. Run "
    "tools/quickstart, or: ${Python3_EXECUTABLE} -m pip install jinja2")
endif()
