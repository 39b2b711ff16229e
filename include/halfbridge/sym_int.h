#pragma once

#include <algorithm>
#include <cstdint>
#include <iosfwd>
#include <optional>

#include <halfbridge/array_ref.h>
#include <halfbridge/macros.h>

namespace hb {

/// A size that a tracer might not know yet. Nothing is traced here: it is a number.
class SymInt {
 public:
  SymInt(int64_t value = 0) : value_(value) {}  // NOLINT: implicit as in LibTorch
  operator int64_t() const { return value_; }   // NOLINT: LibTorch asks for expect_int()
  int64_t expect_int() const { return value_; }
  int64_t guard_int(const char* /*file*/, int64_t /*line*/) const { return value_; }
  int64_t as_int_unchecked() const { return value_; }
  std::optional<int64_t> maybe_as_int() const { return value_; }
  bool is_symbolic() const { return false; }
  bool is_heap_allocated() const { return false; }
  bool has_hint() const { return true; }
  bool is_same(const SymInt& other) const { return value_ == other.value_; }
  SymInt clone() const { return *this; }
  SymInt min(const SymInt& other) const { return std::min(value_, other.value_); }
  SymInt max(const SymInt& other) const { return std::max(value_, other.value_); }
  SymInt& operator+=(int64_t other) { return value_ += other, *this; }
  SymInt& operator-=(int64_t other) { return value_ -= other, *this; }
  SymInt& operator*=(int64_t other) { return value_ *= other, *this; }

 private:
  int64_t value_;
};
using SymIntArrayRef = ArrayRef<SymInt>;
HB_API std::ostream& operator<<(std::ostream& out, const SymInt& value);

}  // namespace hb
