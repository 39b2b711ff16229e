#pragma once
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>
#include <ATen/core/symbol.h>
#include <halfbridge/bridge/dispatch/jit_operator.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/library.h>

namespace torch::jit {
using c10::Argument;
using c10::FunctionSchema;
using c10::Symbol;
}  // namespace torch::jit
