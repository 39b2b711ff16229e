#pragma once

#include <string>
#include <vector>

#include <halfbridge/bridge/dispatch/dispatcher.h>

namespace hb::bridge {

/// All operators of this name ("aten::add") that have a schema, in the order of their overloads' names.
std::vector<OperatorHandle> overloads_of(const std::string& name);

}  // namespace hb::bridge
