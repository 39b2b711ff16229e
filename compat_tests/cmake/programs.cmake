# Whole training programs, each built twice. The contract of a program: `--steps N --data DIR --out FILE.json` (or
# .safetensors); it draws its weights from a fixed seed and writes {"losses": [one per step]} and whatever else it wants
# compared. The test program.<name> runs both builds for 50 steps and compares the files.
file(GLOB _program_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/programs/*.cpp)
foreach(file IN LISTS _program_files)
  get_filename_component(name ${file} NAME_WE)
  halfbridge_two_builds(prog_${name} ${file})
  target_include_directories(prog_${name}_libtorch PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/programs)
  target_include_directories(prog_${name}_halfbridge PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/programs)
  add_test(NAME program.${name}
    COMMAND ${CMAKE_COMMAND}
      -DLIBTORCH=$<TARGET_FILE:prog_${name}_libtorch> -DHALFBRIDGE=$<TARGET_FILE:prog_${name}_halfbridge>
      -DCOMPARE=$<TARGET_FILE:parity_compare> -DPROGRAM=${name} -DOUT=${CMAKE_CURRENT_BINARY_DIR}/programs
      -DREPO_DATA=${PROJECT_SOURCE_DIR}/data
      -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_program.cmake)
  set_tests_properties(program.${name} PROPERTIES LABELS program TIMEOUT 1800 SKIP_REGULAR_EXPRESSION "SKIPPED:")
endforeach()
