# HALFBRIDGE_SANITIZE: which sanitizers. HALFBRIDGE_SANITIZE_OPTIONS compile for them.
#
# ThreadSanitizer looks at the layers and files that hold threads or what threads share; the other objects are those of the
# usual build, from the compiler's cache. It must look wherever a reference count may fall, else it takes what that count
# orders for a race. Loops of an instruction set hold neither, and take minutes.
set(HALFBRIDGE_SANITIZED_LAYERS "")
set(HALFBRIDGE_SANITIZED_SOURCES "")  # a regular expression, of files in other layers
if(HALFBRIDGE_SANITIZE STREQUAL "thread")
  set(HALFBRIDGE_SANITIZE_OPTIONS -fsanitize=thread -fno-omit-frame-pointer -O1 -g1)
  set(HALFBRIDGE_SANITIZED_LAYERS core cpu autograd autocast ops tensor profiler distributed trace)
  set(HALFBRIDGE_SANITIZED_SOURCES "/bridge/src/(amp|autograd|data)/")
  add_link_options(-fsanitize=thread)
elseif(HALFBRIDGE_SANITIZE)
  # With -O1 and without the checks that AddressSanitizer makes too, and that of alignment, which the fuzzers make where
  # files are read, a file compiles in a third of the time.
  set(HALFBRIDGE_SANITIZE_OPTIONS -fsanitize=address,undefined -fno-sanitize=null,alignment,object-size,vptr
    -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O1 -g1 -D_GLIBCXX_ASSERTIONS)
  add_compile_options(${HALFBRIDGE_SANITIZE_OPTIONS})
  add_link_options(-fsanitize=address,undefined)
endif()
