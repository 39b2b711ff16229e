# HALFBRIDGE_SANITIZE: which sanitizers, and where. HALFBRIDGE_SANITIZE_OPTIONS compile for them.
#
#   address   AddressSanitizer and UndefinedBehaviorSanitizer in layers that manage memory, read files or index on the host
#   thread    ThreadSanitizer in layers and files that hold threads or what threads share; it must look wherever a reference
#             count may fall, else it takes what that count orders for a race
#   ON        the first two in every object
#
# The objects that a sanitizer does not look into are those of the usual build, from the compiler's cache.
set(HALFBRIDGE_SANITIZED_LAYERS "" CACHE STRING "Layers that sanitizers look into; empty: those that the kind of sanitizer needs")
set(HALFBRIDGE_SANITIZED_SOURCES "")  # a regular expression, of files in other layers
if(HALFBRIDGE_SANITIZE STREQUAL "thread")
  set(HALFBRIDGE_SANITIZE_OPTIONS -fsanitize=thread -fno-omit-frame-pointer -O1 -g1)
  if(NOT HALFBRIDGE_SANITIZED_LAYERS)
    set(HALFBRIDGE_SANITIZED_LAYERS core cpu autograd autocast ops tensor io profiler distributed graph train trace)
  endif()
  set(HALFBRIDGE_SANITIZED_SOURCES "/bridge/src/((amp|autograd|data|distributed|script)/|dispatch/([a-z_]+|aten/load)\\.cpp)")
  add_link_options(-fsanitize=thread)
elseif(HALFBRIDGE_SANITIZE)
  # With -O1 and without the checks that AddressSanitizer makes too, and that of alignment, which the fuzzers make where
  # files are read, a file compiles in a third of the time.
  set(HALFBRIDGE_SANITIZE_OPTIONS -fsanitize=address,undefined -fno-sanitize=null,alignment,object-size,vptr
    -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O1 -g1 -D_GLIBCXX_ASSERTIONS)
  add_link_options(-fsanitize=address,undefined)
  if(HALFBRIDGE_SANITIZE STREQUAL "address")
    if(NOT HALFBRIDGE_SANITIZED_LAYERS)
      set(HALFBRIDGE_SANITIZED_LAYERS core autograd autocast tensor io profiler distributed bridge graph train trace)
    endif()
    list(APPEND HALFBRIDGE_SANITIZE_OPTIONS -Og)  # no loops over elements are among them: two thirds of the time of -O1
  else()
    add_compile_options(${HALFBRIDGE_SANITIZE_OPTIONS})
  endif()
endif()
