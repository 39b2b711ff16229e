#include "io/pickle_writer.h"

#include <cstring>
#include <utility>

#include "io/io_error.h"

namespace hb::io {

PickleWriter::PickleWriter() {
  opcode(op::kProto);
  bytes_.push_back(2);
}

void PickleWriter::little_endian(uint64_t value, int width) {
  for (int i = 0; i < width; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
}

void PickleWriter::integer(int64_t value) {
  if (value >= 0 && value <= 0xff) {
    opcode(op::kBinInt1);
    little_endian(static_cast<uint64_t>(value), 1);
  } else if (value >= 0 && value <= 0xffff) {
    opcode(op::kBinInt2);
    little_endian(static_cast<uint64_t>(value), 2);
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    opcode(op::kBinInt);
    little_endian(static_cast<uint64_t>(value), 4);
  } else {
    opcode(op::kLong1);
    bytes_.push_back(8);
    little_endian(static_cast<uint64_t>(value), 8);
  }
}

void PickleWriter::real(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  opcode(op::kBinFloat);
  for (int shift = 56; shift >= 0; shift -= 8) bytes_.push_back(static_cast<char>(bits >> shift));
}

void PickleWriter::string(std::string_view text) {
  const auto known = strings_.find(std::string(text));
  if (known != strings_.end()) return recall(known->second);
  if (text.size() > UINT32_MAX) io_fail("save", "expected a string of less than 4 GiB, got ", text.size(), " bytes");
  opcode(op::kBinUnicode);
  little_endian(text.size(), 4);
  bytes_.append(text);
  strings_.emplace(text, memoize());
}

void PickleWriter::global(std::string_view module, std::string_view name) {
  std::string line = std::string(module) + "\n" + std::string(name) + "\n";
  const auto known = globals_.find(line);
  if (known != globals_.end()) return recall(known->second);
  opcode(op::kGlobal);
  bytes_ += line;
  globals_.emplace(std::move(line), memoize());
}

uint32_t PickleWriter::memoize() {
  const uint32_t number = memo_size_++;
  opcode(number <= 0xff ? op::kBinPut : op::kLongBinPut);
  little_endian(number, number <= 0xff ? 1 : 4);
  return number;
}

void PickleWriter::recall(uint32_t number) {
  opcode(number <= 0xff ? op::kBinGet : op::kLongBinGet);
  little_endian(number, number <= 0xff ? 1 : 4);
}

std::string PickleWriter::finish() {
  opcode(op::kStop);
  return std::move(bytes_);
}

}  // namespace hb::io
