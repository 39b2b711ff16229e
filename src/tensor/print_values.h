#pragma once
#include <cstdint>
#include <ostream>
#include <string>

#include <halfbridge/array_ref.h>

namespace hb::detail {

/// Writes the values of a contiguous tensor of at least one dimension as LibTorch does: one element a line, a
/// matrix in blocks of columns that fit `linesize`, more dimensions as one matrix after the other under
/// "(1,2,.,.) = ".
void print_values(std::ostream& out, const double* data, IntArrayRef sizes, int64_t linesize);

/// The fewest digits that read back as `value`: how the one value of a 0-d tensor is written.
std::string shortest(double value);

/// Restores the formatting of a stream.
class StreamFormat {
 public:
  explicit StreamFormat(std::ostream& out) : out_(out), saved_(nullptr) {
    saved_.copyfmt(out);
    out.flags(std::ios::dec | std::ios::skipws), out.fill(' ');
  }
  ~StreamFormat() { out_.copyfmt(saved_); }
  StreamFormat(const StreamFormat&) = delete;
  StreamFormat& operator=(const StreamFormat&) = delete;

 private:
  std::ostream& out_;
  std::ios saved_;
};

}  // namespace hb::detail
