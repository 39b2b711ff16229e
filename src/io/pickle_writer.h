// Writes the opcodes of a pickle (protocol 2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "io/pickle_opcodes.h"

namespace hb::io {

/// Strings and globals that come again are taken from the memo.
class PickleWriter {
 public:
  PickleWriter();

  void opcode(op::Opcode code) { bytes_.push_back(static_cast<char>(code)); }
  void integer(int64_t value);
  void real(double value);
  void boolean(bool value) { opcode(value ? op::kNewTrue : op::kNewFalse); }
  void string(std::string_view text);
  void global(std::string_view module, std::string_view name);
  /// Remembers the value on top of the stack; gives its number for recall().
  uint32_t memoize();
  void recall(uint32_t number);
  /// Ends the pickle and gives its bytes.
  std::string finish();

 private:
  void little_endian(uint64_t value, int width);

  std::string bytes_;
  uint32_t memo_size_ = 0;
  std::unordered_map<std::string, uint32_t> strings_;
  std::unordered_map<std::string, uint32_t> globals_;
};

}  // namespace hb::io
