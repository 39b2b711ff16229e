# Calls with random arguments in both libraries, built and compared on request: ninja random_calls.
file(GLOB _sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/random_calls/*.cpp)
halfbridge_two_builds_of_test(random_calls ${_sources})
target_sources(random_calls_halfbridge PRIVATE $<TARGET_OBJECTS:fake_device> $<TARGET_OBJECTS:cpu_random>)  # for --device
set_target_properties(random_calls_libtorch random_calls_halfbridge PROPERTIES EXCLUDE_FROM_ALL ON)
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_custom_target(random_calls
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/random_calls/compare.py
          $<TARGET_FILE:random_calls_libtorch> $<TARGET_FILE:random_calls_halfbridge>
  USES_TERMINAL)
