# LibTorch's files through `halfbridge checkpoint convert` to another format and back; then LibTorch reads what came back.
file(REMOVE_RECURSE ${OUT})
file(COPY ${FROM}/ DESTINATION ${OUT})
if(VIA STREQUAL "torch")
  file(GLOB files ${OUT}/*.pt)
  # Typed dicts and lists, whose types Python's pickles do not keep, and code.
  list(REMOVE_ITEM files ${OUT}/archive.pt ${OUT}/pickle.pt ${OUT}/script_module.pt ${OUT}/script_extended.pt)
else()  # safetensors know neither shared memory nor bare values
  file(GLOB files ${OUT}/linear.pt ${OUT}/block.pt ${OUT}/zoo.pt ${OUT}/half.pt ${OUT}/*.optimizer.pt ${OUT}/*.before.pt)
endif()
list(LENGTH files count)
if(count LESS 10)
  message(FATAL_ERROR "expected the files of interop.libtorch_writes in ${FROM}, got ${count}")
endif()
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME)
  set(modules "")
  if(name STREQUAL "block.pt")  # its ReLU has no tensors
    set(modules --module layers.2)
  endif()
  execute_process(COMMAND ${CLI} checkpoint convert ${file} ${file}.between --to ${VIA} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CLI} checkpoint convert ${file}.between ${file} --to libtorch ${modules} OUTPUT_QUIET
                  COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CLI} checkpoint diff ${FROM}/${name} ${file} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endforeach()
execute_process(COMMAND ${READER} read ${OUT} COMMAND_ERROR_IS_FATAL ANY)
