# Whole training programs, each built twice. The contract of a program: `--steps N --seed S --data DIR --dropout P --out
# FILE.json`; programs/run.h reads it and writes the record (FILE.json to read, FILE.safetensors to compare). The test
# program.<name> runs both builds for 50 steps and compares: initial weights within 2 ULP, losses step by step within 1e-3.
find_package(nlohmann_json REQUIRED)
add_executable(compare_runs programs/tools/compare_runs.cpp)
target_link_libraries(compare_runs PRIVATE nlohmann_json::nlohmann_json)
add_executable(digits_as_mnist programs/tools/digits_as_mnist.cpp)
target_link_libraries(digits_as_mnist PRIVATE ZLIB::ZLIB)

set(HALFBRIDGE_PROGRAMS_DIR ${CMAKE_CURRENT_BINARY_DIR}/programs)
file(MAKE_DIRECTORY ${HALFBRIDGE_PROGRAMS_DIR}/data)
add_test(NAME program_data
  COMMAND digits_as_mnist ${PROJECT_SOURCE_DIR}/data/digits.csv.gz ${HALFBRIDGE_PROGRAMS_DIR}/data)
set_tests_properties(program_data PROPERTIES LABELS program FIXTURES_SETUP program_data)

file(GLOB _program_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/programs/*.cpp)
foreach(file IN LISTS _program_files)
  get_filename_component(name ${file} NAME_WE)
  halfbridge_two_builds_of_test(prog_${name} ${file})
  target_include_directories(prog_${name}_libtorch PRIVATE
    ${CMAKE_CURRENT_SOURCE_DIR}/programs ${PROJECT_SOURCE_DIR}/trace/include ${PROJECT_SOURCE_DIR}/bridge/include)
  target_compile_definitions(prog_${name}_libtorch PRIVATE HALFBRIDGE_CAPTURE)
  target_include_directories(prog_${name}_halfbridge PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/programs)
endforeach()

# program_test(test-name program [argument...]): one comparison of the two builds of a program.
function(program_test test program)
  list(JOIN ARGN " " arguments)
  add_test(NAME program.${test}
    COMMAND ${CMAKE_COMMAND}
      -DLIBTORCH=$<TARGET_FILE:prog_${program}_libtorch> -DHALFBRIDGE=$<TARGET_FILE:prog_${program}_halfbridge>
      -DCOMPARE=$<TARGET_FILE:compare_runs> -DTEST=${test} -DARGUMENTS=${arguments}
      -DOUT=${HALFBRIDGE_PROGRAMS_DIR} -DDATA=${HALFBRIDGE_PROGRAMS_DIR}/data
      -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_program.cmake)
  set_tests_properties(program.${test} PROPERTIES LABELS program TIMEOUT 1800 FIXTURES_REQUIRED program_data)
endfunction()

program_test(mlp_mnist mlp_mnist --dropout 0)
program_test(mlp_mnist_adam mlp_mnist --dropout 0 --optimizer adam --seed 7)
# With this seed the loss begins to fall fast after the 50 steps. Where it falls fast, an element that won its pooling window
# by the last bit (seed 1, two threads of AVX2, step 10) is seen in the third digit.
program_test(lenet_dataloader lenet_dataloader --dropout 0 --seed 2)
program_test(resnet32 resnet32)
program_test(dcgan dcgan)
program_test(transformer_lm transformer_lm --dropout 0)
program_test(transformer_lm_tied transformer_lm --dropout 0 --tie 1 --seed 3)
program_test(custom_function custom_function --dropout 0)
program_test(seq2seq seq2seq --dropout 0)

# The same programs with their training step captured: 100 steps leave what eager ones leave, bit for bit.
function(graph_program_test program)
  list(JOIN ARGN " " arguments)
  add_test(NAME program.graph_${program}
    COMMAND ${CMAKE_COMMAND}
      -DPROGRAM=$<TARGET_FILE:prog_${program}_halfbridge> -DTEST=graph_${program} -DARGUMENTS=${arguments} -DSTEPS=100
      -DOUT=${HALFBRIDGE_PROGRAMS_DIR} -DDATA=${HALFBRIDGE_PROGRAMS_DIR}/data
      -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_graph_program.cmake)
  set_tests_properties(program.graph_${program} PROPERTIES LABELS program TIMEOUT 900 FIXTURES_REQUIRED program_data)
endfunction()
graph_program_test(mlp_mnist --optimizer adam)
graph_program_test(lenet_dataloader)
graph_program_test(resnet32 --batch 8)
graph_program_test(dcgan)
graph_program_test(transformer_lm)
graph_program_test(custom_function)
# Packed sequences: which rows of a batch go on is read on the host.
add_test(NAME program.graph_seq2seq
  COMMAND sh -c "'$<TARGET_FILE:prog_seq2seq_halfbridge>' --steps 20 --captured 1 2>&1 || echo stopped")
set_tests_properties(program.graph_seq2seq PROPERTIES LABELS program
  PASS_REGULAR_EXPRESSION "the step cannot be captured: \\[[a-z_]+\\] .*stopped")

# The same programs, unmodified, in mixed precision: HALFBRIDGE_AMP turns it on.
add_executable(compare_losses programs/tools/compare_losses.cpp)
target_link_libraries(compare_losses PRIVATE nlohmann_json::nlohmann_json)
function(amp_program_test program steps)
  list(JOIN ARGN " " arguments)
  add_test(NAME program.amp_${program}
    COMMAND ${CMAKE_COMMAND}
      -DPROGRAM=$<TARGET_FILE:prog_${program}_halfbridge> -DCOMPARE=$<TARGET_FILE:compare_losses> -DTEST=amp_${program}
      -DARGUMENTS=${arguments} -DSTEPS=${steps} "-DMODES=O1:fp16 O1:bf16 O2:fp16 O2:bf16" -DTOLERANCE=0.02
      -DOUT=${HALFBRIDGE_PROGRAMS_DIR} -DDATA=${HALFBRIDGE_PROGRAMS_DIR}/data
      -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_amp_program.cmake)
  set_tests_properties(program.amp_${program} PROPERTIES LABELS program TIMEOUT 1800 FIXTURES_REQUIRED program_data)
endfunction()
# With SGD this program is chaotic: runs in float32 that differ in the instruction set alone are 8 % apart after 200 steps.
amp_program_test(mlp_mnist 100 --dropout 0 --optimizer adam --seed 7)
amp_program_test(lenet_dataloader 60 --dropout 0)
amp_program_test(resnet32 40)
amp_program_test(transformer_lm 60 --dropout 0)
amp_program_test(custom_function 60 --dropout 0)
# The same with tensors on the CUDA back end's software device, and in mixed precision there; random numbers are the CPU's.
if(TARGET halfbridge_software_cuda AND NOT HALFBRIDGE_SANITIZE)
  function(cuda_program_test program steps half)
    list(JOIN ARGN " " arguments)
    add_test(NAME program.cuda_${program}
      COMMAND ${CMAKE_COMMAND}
        -DPROGRAM=$<TARGET_FILE:prog_${program}_halfbridge> -DRUNS=$<TARGET_FILE:compare_runs>
        -DLOSSES=$<TARGET_FILE:compare_losses> -DTEST=cuda_${program} -DARGUMENTS=${arguments} -DSTEPS=${steps} -DHALF=${half}
        -DOUT=${HALFBRIDGE_PROGRAMS_DIR} -DDATA=${HALFBRIDGE_PROGRAMS_DIR}/data
        -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_cuda_program.cmake)
    set_tests_properties(program.cuda_${program} PROPERTIES LABELS program TIMEOUT 900 FIXTURES_REQUIRED program_data
      ENVIRONMENT "HALFBRIDGE_CUDA_LIBRARY=$<TARGET_FILE:halfbridge_software_cuda>;SOFTWARE_CUDA_RANDOM=cpu")
  endfunction()
  set(_half "O1:fp16 O1:bf16")
  cuda_program_test(mlp_mnist 8 "${_half}" --dropout 0 --optimizer adam --seed 7)
  cuda_program_test(lenet_dataloader 3 "${_half}" --dropout 0)
  cuda_program_test(resnet32 2 "${_half}" --batch 4)
  cuda_program_test(transformer_lm 3 "${_half}" --dropout 0)
  cuda_program_test(custom_function 8 "${_half}" --dropout 0)
  cuda_program_test(seq2seq 6 "${_half}" --dropout 0)
  cuda_program_test(dcgan 2 "")  # autocast refuses its binary_cross_entropy, as in LibTorch
endif()
# The program ends by an exception that it does not catch; CTest would count the abort itself as a failure.
add_test(NAME program.amp_wrong_value
  COMMAND sh -c "'$<TARGET_FILE:prog_mlp_mnist_halfbridge>' --steps 1 --data '${HALFBRIDGE_PROGRAMS_DIR}/data' || echo stopped")
set_tests_properties(program.amp_wrong_value PROPERTIES LABELS program FIXTURES_REQUIRED program_data
  ENVIRONMENT HALFBRIDGE_AMP=O4:fp16
  PASS_REGULAR_EXPRESSION "what\\(\\):  \\[HALFBRIDGE_AMP\\] expected O0, O1, O2 or O3.*stopped")

# The examples, where they are built too.
if(TARGET demo)
  add_test(NAME example.demo COMMAND demo --json ${HALFBRIDGE_PROGRAMS_DIR}/demo.json)
  add_test(NAME example.custom_gradient COMMAND example_custom_gradient)
  add_test(NAME example.seven_steps COMMAND example_seven_steps)
  set_tests_properties(example.demo example.custom_gradient example.seven_steps PROPERTIES LABELS program TIMEOUT 900)
  foreach(style low_level explicit_gradients levels model)
    add_test(NAME example.mnist_mlp_${style} COMMAND mnist_mlp_${style} --epochs 3)
    add_test(NAME example.resnet34_${style} COMMAND resnet34_${style} --stem cifar --epochs 2 --steps 3)
    set_tests_properties(example.mnist_mlp_${style} example.resnet34_${style} PROPERTIES LABELS program TIMEOUT 900)
    if(TARGET halfbridge_software_cuda AND NOT HALFBRIDGE_SANITIZE)
      add_test(NAME example.cuda_mnist_mlp_${style} COMMAND mnist_mlp_${style} --epochs 3 --steps 4 --device cuda)
      add_test(NAME example.cuda_resnet34_${style}
        COMMAND resnet34_${style} --stem cifar --width 16 --epochs 4 --steps 2 --device cuda)
      set_tests_properties(example.cuda_mnist_mlp_${style} example.cuda_resnet34_${style} PROPERTIES LABELS program TIMEOUT 900
        ENVIRONMENT "HALFBRIDGE_CUDA_LIBRARY=$<TARGET_FILE:halfbridge_software_cuda>;SOFTWARE_CUDA_RANDOM=cpu")
    endif()
  endforeach()
endif()
