// oneDNN, loaded so that it finds its own symbols first. LibTorch brings another version of oneDNN, whose templates
// have the same names: in a process with both, an ordinary link would let each call the other's.
#include <dlfcn.h>
#include <dnnl_version.h>

#include <string>

#include <halfbridge/error.h>

#include "cpu/own_symbols.h"

#ifndef __x86_64__
#error "src/cpu/onednn/library.cpp forwards calls with x86-64 instructions"
#endif

// The functions that this back end uses. One that is missing here is an undefined symbol when the library is linked;
// one that a version lacks, and does not use, does no harm.
#if DNNL_VERSION_MAJOR >= 3
#define HB_ONEDNN_OF_VERSION(_)                              \
  _(dnnl_convolution_backward_data_primitive_desc_create)    \
  _(dnnl_convolution_backward_weights_primitive_desc_create) \
  _(dnnl_convolution_forward_primitive_desc_create)          \
  _(dnnl_matmul_primitive_desc_create)                       \
  _(dnnl_memory_create)                                      \
  _(dnnl_memory_create_v2)                                   \
  _(dnnl_memory_desc_clone)                                  \
  _(dnnl_memory_desc_create_with_strides)                    \
  _(dnnl_memory_desc_create_with_tag)                        \
  _(dnnl_memory_desc_destroy)                                \
  _(dnnl_memory_desc_get_size)                               \
  _(dnnl_memory_desc_get_size_v2)                            \
  _(dnnl_memory_desc_query)                                  \
  _(dnnl_post_ops_append_eltwise)                            \
  _(dnnl_primitive_desc_next_impl)
#else
#define HB_ONEDNN_OF_VERSION(_)                          \
  _(dnnl_dilated_convolution_backward_data_desc_init)    \
  _(dnnl_dilated_convolution_backward_weights_desc_init) \
  _(dnnl_dilated_convolution_forward_desc_init)          \
  _(dnnl_matmul_desc_init)                               \
  _(dnnl_memory_create)                                  \
  _(dnnl_memory_desc_get_size)                           \
  _(dnnl_memory_desc_init_by_strides)                    \
  _(dnnl_memory_desc_init_by_tag)                        \
  _(dnnl_primitive_attr_set_output_scales)               \
  _(dnnl_primitive_desc_iterator_create)                 \
  _(dnnl_primitive_desc_iterator_destroy)                \
  _(dnnl_primitive_desc_iterator_fetch)                  \
  _(dnnl_primitive_desc_iterator_next)
#endif
#define HB_ONEDNN_FUNCTIONS(_)               \
  HB_ONEDNN_OF_VERSION(_)                    \
  _(dnnl_engine_create)                      \
  _(dnnl_engine_destroy)                     \
  _(dnnl_memory_desc_equal)                  \
  _(dnnl_memory_destroy)                     \
  _(dnnl_memory_set_data_handle)             \
  _(dnnl_post_ops_append_sum)                \
  _(dnnl_post_ops_create)                    \
  _(dnnl_post_ops_destroy)                   \
  _(dnnl_primitive_attr_create)              \
  _(dnnl_primitive_attr_destroy)             \
  _(dnnl_primitive_attr_set_post_ops)        \
  _(dnnl_primitive_attr_set_scratchpad_mode) \
  _(dnnl_primitive_create)                   \
  _(dnnl_primitive_desc_destroy)             \
  _(dnnl_primitive_desc_query)               \
  _(dnnl_primitive_desc_query_md)            \
  _(dnnl_primitive_destroy)                  \
  _(dnnl_primitive_execute)                  \
  _(dnnl_reorder_primitive_desc_create)      \
  _(dnnl_set_max_cpu_isa)                    \
  _(dnnl_stream_create)                      \
  _(dnnl_stream_destroy)                     \
  _(dnnl_version)

#define HB_TEXT(x) #x
#define HB_NUMBER(x) HB_TEXT(x)

// `name` jumps to where `hb_name` points.
#define HB_FORWARD(name)                                                                                           \
  extern "C" {                                                                                                     \
  __attribute__((visibility("hidden"), used)) void* hb_##name = nullptr;                                           \
  }                                                                                                                \
  asm(".text\n.globl " #name "\n.hidden " #name "\n.type " #name ",@function\n" #name ":\nendbr64\njmp *hb_" #name \
      "(%rip)\n.size " #name ",.-" #name "\n");
HB_ONEDNN_FUNCTIONS(HB_FORWARD)
#undef HB_FORWARD

namespace {

constexpr const char* kLibrary = "libdnnl.so." HB_NUMBER(DNNL_VERSION_MAJOR);

[[noreturn]] void missing() {
  hb::detail::fail<hb::Error>("[oneDNN] expected ", kLibrary,
                              " with all functions that Halfbridge uses, got none: "
                              "install oneDNN ",
                              DNNL_VERSION_MAJOR);
}

void* open_library();

// Before other initialisers: one of them may compute.
__attribute__((constructor(101))) void load() {
  void* library = open_library();
  const auto find = [library](const char* name) {
    void* function = library ? dlsym(library, name) : nullptr;
    return function ? function : reinterpret_cast<void*>(&missing);
  };
#define HB_FIND(name) hb_##name = find(#name);
  HB_ONEDNN_FUNCTIONS(HB_FIND)
#undef HB_FIND
}

// Opens oneDNN through the library in scope/, which stands beside this one and keeps oneDNN's objects alive to the end.
void* open_library() {
  Dl_info here;
  if (dladdr(reinterpret_cast<void*>(&load), &here)) {
    const std::string path = here.dli_fname;
    const std::string beside = path.substr(0, path.rfind('/') + 1) + HB_ONEDNN_SCOPE;
    if (void* library = dlopen(beside.c_str(), hb::cpu::own_symbols_first())) return library;
  }
  return dlopen(kLibrary, hb::cpu::own_symbols_first());  // alone, as in a copy of this library by itself
}

}  // namespace
