#pragma once

#include <string>

namespace hb::io {

/// A text in double quotes, as TorchScript's code writes it.
std::string quoted(const std::string& text);

}  // namespace hb::io
