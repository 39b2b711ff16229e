#pragma once
// What is known of a recorded call beyond that it can be run: a copy of it, and the numbers among its arguments.

#include <memory>
#include <string>
#include <string_view>

#include "backend/kernel.h"

namespace hb::graph {

/// The call with places of its own to hold addresses in; null for a call of a type that the table lacks.
std::unique_ptr<capture::Call> copy_of(capture::Call& call);

/// The bytes of all numbers, sizes and names that the routine gets, without the addresses: equal calls have equal ones.
/// Empty for a call of a type that the table lacks.
std::string numbers_of(capture::Call& call);

/// The call with its arguments, where it is one of a kernel with this one's signature; else null.
template <class... Args>
const capture::CallOf<Args...>* as_call_of(const Kernel<void(Args...)>&, const capture::Call& call) {
  return dynamic_cast<const capture::CallOf<Args...>*>(&call);
}
/// Whether the call is one of this kernel itself.
template <class... Args>
bool is_call_of(const Kernel<void(Args...)>& kernel, const capture::Call& call) {
  return as_call_of(kernel, call) && std::string_view(call.name) == kernel.name();
}

}  // namespace hb::graph
