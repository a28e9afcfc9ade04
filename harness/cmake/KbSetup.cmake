# What of CMake's own settings the build cannot live with. Some of them would build something else and say nothing. Comes
# before project(), which stumbles over some of it.

foreach(folder IN ITEMS "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}")
  if(folder MATCHES "[][;\\\"]")
    message(FATAL_ERROR "The path ${folder} holds one of [ ] ; \\ \", which CMake reads as its own: move the checkout "
      "to, or build in, a folder whose path has none of them.")
  endif()
endforeach()

if(NOT CMAKE_GENERATOR STREQUAL Ninja)
  message(FATAL_ERROR "The generator is '${CMAKE_GENERATOR}'; it must be Ninja, whose pools bound how many kernels compile "
    "at once and which tools/judge asks for commands: use a preset (cmake --list-presets) in a new build folder, without "
    "-G.")
endif()

if(CMAKE_UNITY_BUILD)
  message(FATAL_ERROR "CMAKE_UNITY_BUILD is on: it would compile several kernels as one. Configure again with "
    "-DCMAKE_UNITY_BUILD=OFF.")
endif()
