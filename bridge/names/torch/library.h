#pragma once
#include <halfbridge/bridge/library.h>
#include <torch/types.h>

#define TORCH_LIBRARY(ns, m) HB_LIBRARY_BODY(m)
#define TORCH_LIBRARY_FRAGMENT(ns, m) HB_LIBRARY_BODY(m)
#define TORCH_LIBRARY_IMPL(ns, k, m) HB_LIBRARY_BODY(m)
#define TORCH_SELECTIVE_SCHEMA(text) text
#define TORCH_SELECTIVE_NAME(text) text
#define TORCH_FN(function) (&function)
