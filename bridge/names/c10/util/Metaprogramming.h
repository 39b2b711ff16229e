#pragma once
#include <halfbridge/bridge/function_traits.h>

#include <c10/names.h>

namespace c10::guts {
using hb::bridge::signatures::function_traits;
using hb::bridge::signatures::infer_function_traits;
using hb::bridge::signatures::infer_function_traits_t;
using hb::bridge::signatures::is_function_type;
using hb::bridge::signatures::is_functor;
using hb::bridge::signatures::make_function_traits_t;
namespace typelist {
using hb::bridge::signatures::element;
using hb::bridge::signatures::element_t;
using hb::bridge::signatures::head_t;
using hb::bridge::signatures::size;
using hb::bridge::signatures::to_tuple_t;
using hb::bridge::signatures::typelist;
}  // namespace typelist
}  // namespace c10::guts
