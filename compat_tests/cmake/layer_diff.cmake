# Layer by layer against LibTorch on the programs, and with faults put into single layers (run_layer_diff.cmake).
# layer_diff_test(name program tensors-compared-at-least [PRELOAD] ARGUMENTS ... FAULTS ...)
function(layer_diff_test test program compared)
  cmake_parse_arguments(PARSE_ARGV 3 _arg "PRELOAD" "" "ARGUMENTS;FAULTS")
  set(preload "")
  if(_arg_PRELOAD)
    set(preload $<TARGET_FILE:halfbridge_capture>)
  endif()
  list(JOIN _arg_ARGUMENTS " " arguments)
  add_test(NAME layers.${test}
    COMMAND ${CMAKE_COMMAND}
      -DLIBTORCH=$<TARGET_FILE:prog_${program}_libtorch> -DHALFBRIDGE=$<TARGET_FILE:prog_${program}_halfbridge>
      -DCLI=$<TARGET_FILE:halfbridge_cli> -DTEST=${test} -DARGUMENTS=${arguments} -DCOMPARED=${compared} -DPRELOAD=${preload}
      "-DFAULTS=${_arg_FAULTS}" -DOUT=${HALFBRIDGE_PROGRAMS_DIR}/layers -DDATA=${HALFBRIDGE_PROGRAMS_DIR}/data
      -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_layer_diff.cmake)
  set_tests_properties(layers.${test} PROPERTIES LABELS program TIMEOUT 1200 FIXTURES_REQUIRED program_data)
endfunction()
file(MAKE_DIRECTORY ${HALFBRIDGE_PROGRAMS_DIR}/layers)

layer_diff_test(mlp_mnist mlp_mnist 48 ARGUMENTS --dropout 0
  FAULTS permuted:fc1=permuted_weight no_bias:fc3=missing_bias gain:fc2=scaled_weight)
layer_diff_test(lenet_dataloader lenet_dataloader 82 ARGUMENTS --dropout 0
  FAULTS permuted:conv1=permuted_weight padding_mode:conv1=padding_mode no_bias:conv2=missing_bias gain:classifier.3=scaled_weight)
layer_diff_test(resnet32 resnet32 451
  FAULTS eps:layer1.0.bn1=eps momentum:layer2.0.bn2@state=momentum eval:layer3.0.bn1=training_mode
         padding:layer1.1.conv1=options shifted:layer2.1.conv1=shifted_keys permuted:fc=permuted_weight
         doubled_gradient:fc@gradient=gradient_scale)
layer_diff_test(dcgan dcgan 187
  FAULTS slope:1=negative_slope eps:3=eps permuted:to_image=permuted_weight)
layer_diff_test(transformer_lm transformer_lm 212 ARGUMENTS --dropout 0
  FAULTS eps:blocks.0.ln1=eps transposed:blocks.0.attention.out=transposed_weight permuted:tokens=permuted_weight
         no_bias:blocks.1.mlp.up=missing_bias shifted:blocks.0.mlp.down=shifted_keys)
layer_diff_test(custom_function custom_function 81 ARGUMENTS --dropout 0
  FAULTS transposed:middle=transposed_weight gain:hidden=scaled_weight doubled_gradient:last@gradient=gradient_scale)

# The same without an edit of LibTorch's program: what it traces has no modules.
layer_diff_test(preloaded_lenet_dataloader lenet_dataloader 62 PRELOAD ARGUMENTS --dropout 0
  FAULTS permuted:conv1=permuted_weight no_bias:conv2=missing_bias padding_mode:conv1=- gain:classifier.3=scaled_weight)
layer_diff_test(preloaded_resnet32 resnet32 297 PRELOAD
  FAULTS eps:layer1.0.bn1=eps eval:layer3.0.bn1=training_mode padding:layer1.1.conv1=- shifted:layer2.1.conv1=-
         permuted:fc=permuted_weight)
layer_diff_test(preloaded_transformer_lm transformer_lm 154 PRELOAD ARGUMENTS --dropout 0
  FAULTS eps:blocks.0.ln1=eps transposed:blocks.0.attention.out=transposed_weight permuted:tokens=permuted_weight
         no_bias:blocks.1.mlp.up=missing_bias)

# The worked case of docs/layer-diff.md: a net with weights from Python, and four mistakes of a port.
if(TARGET reference_checkpoint)
  set(_verify $<TARGET_FILE:halfbridge_cli> verify ${PROJECT_SOURCE_DIR}/examples/reference_checkpoint/reference --plain --
    $<TARGET_FILE:reference_checkpoint>)
  add_test(NAME verify.agrees COMMAND ${_verify})
  function(verify_mistake mistake expected)
    add_test(NAME verify.${mistake} COMMAND ${_verify} --mistake ${mistake})
    set_tests_properties(verify.${mistake} PROPERTIES PASS_REGULAR_EXPRESSION "${expected}")
  endfunction()
  verify_mistake(eps "first layer1.0.bn1 .BatchNorm2d., forward: agrees with eps=0.001")
  verify_mistake(padding "first stem .Conv2d., forward: .*padding")
  verify_mistake(train "2  mode +DIFFERS.*first layer1.0.bn1 .BatchNorm2d., forward: .*train")
  verify_mistake(transposed "first neck .Linear., forward: .*transpos")
  set_tests_properties(verify.agrees verify.eps verify.padding verify.train verify.transposed PROPERTIES LABELS program)
endif()

# One program on the CPU and on CUDA's software device, in one command; with dropout, whose masks are the CPU's.
if(TARGET halfbridge_software_cuda AND NOT HALFBRIDGE_SANITIZE)
  set(_software "HALFBRIDGE_CUDA_LIBRARY=$<TARGET_FILE:halfbridge_software_cuda>")
  function(devices_test test program environment)
    add_test(NAME layers.${test} COMMAND halfbridge_cli devices --plain -- $<TARGET_FILE:prog_${program}_halfbridge>
      --steps 1 --data ${HALFBRIDGE_PROGRAMS_DIR}/data ${ARGN})
    set_tests_properties(layers.${test} PROPERTIES LABELS program TIMEOUT 900 FIXTURES_REQUIRED program_data
      ENVIRONMENT "${environment}")
  endfunction()
  devices_test(cuda_lenet_dataloader lenet_dataloader ${_software} --device {device})
  devices_test(cuda_resnet32 resnet32 ${_software} --batch 4 --device {device})
  devices_test(cuda_transformer_lm transformer_lm ${_software} --device {device})
  devices_test(cuda_not_used lenet_dataloader ${_software})
  devices_test(cuda_not_there lenet_dataloader HALFBRIDGE_CUDA_LIBRARY=none --device {device})
  set_tests_properties(layers.cuda_not_used PROPERTIES PASS_REGULAR_EXPRESSION "nothing was computed on cuda: expected an argument {device}")
  set_tests_properties(layers.cuda_not_there PROPERTIES PASS_REGULAR_EXPRESSION "device cuda:?0? is not available: the variable HALFBRIDGE_CUDA_LIBRARY is none")
endif()
