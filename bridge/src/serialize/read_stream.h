#pragma once

#include <iosfwd>
#include <string>

namespace hb::bridge::serialize {

/// All bytes of a stream, from its beginning, and leaves it good. Throws hb::Error where it cannot be read.
std::string read_stream(std::istream& stream);

}  // namespace hb::bridge::serialize
