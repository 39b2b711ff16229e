#pragma once

#include <string>

namespace hb::detail {

/// The function hb::name that the program called on this thread, for messages of errors that are found far below it;
/// "tensor" where the platform does not tell. Slow.
std::string calling_function();

}  // namespace hb::detail
