#pragma once
#include <halfbridge/bridge/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#define TORCH_BOX(function) (::hb::bridge::stable::detail::Boxed<(function)>())
#define STABLE_TORCH_LIBRARY(ns, m) HB_STABLE_LIBRARY(DEF, #ns, std::nullopt, m)
#define STABLE_TORCH_LIBRARY_FRAGMENT(ns, m) HB_STABLE_LIBRARY(FRAGMENT, #ns, std::nullopt, m)
#define STABLE_TORCH_LIBRARY_IMPL(ns, k, m) HB_STABLE_LIBRARY(IMPL, #ns, ::hb::DispatchKey::k, m)
