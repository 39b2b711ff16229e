#pragma once
#include <ATen/core/dispatch/Dispatcher.h>
#include <halfbridge/bridge/dispatch/custom_class.h>
#include <halfbridge/bridge/dispatch/register_operators.h>
#include <halfbridge/bridge/library.h>
#include <torch/types.h>

namespace torch::jit {
using hb::bridge::class_;
using hb::bridge::getCustomClass;
using hb::bridge::init;
using hb::bridge::isCustomClass;
}  // namespace torch::jit

#define TORCH_LIBRARY(ns, m) HB_LIBRARY_BODY(DEF, #ns, std::nullopt, m)
#define TORCH_LIBRARY_FRAGMENT(ns, m) HB_LIBRARY_BODY(FRAGMENT, #ns, std::nullopt, m)
#define TORCH_LIBRARY_IMPL(ns, k, m) HB_LIBRARY_BODY(IMPL, #ns, ::hb::DispatchKey::k, m)
#define MAKE_TORCH_LIBRARY(ns) ::hb::bridge::Library(::hb::bridge::Library::DEF, #ns, std::nullopt, __FILE__, __LINE__)
#define MAKE_TORCH_LIBRARY_IMPL(ns, k) \
  ::hb::bridge::Library(::hb::bridge::Library::IMPL, #ns, ::hb::DispatchKey::k, __FILE__, __LINE__)
#define TORCH_SELECTIVE_SCHEMA(text) text
#define TORCH_SELECTIVE_NAME(text) text
#define TORCH_SELECTIVE_CLASS(text) text
#define TORCH_FN(function) (&function)
