#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace hb::bridge::serialize {

/// All bytes of a stream, from its beginning, and leaves it good. Throws hb::Error where it cannot be read.
std::string read_stream(std::istream& stream);
/// All of `size` bytes that `read` copies to `buf`, as many at a time as it says. Throws where it stops early.
std::string read_all(const std::function<size_t(uint64_t pos, void* buf, size_t n)>& read, size_t size);

}  // namespace hb::bridge::serialize
