#pragma once
// The store's messages. A frame is its length (u32, little endian) and so many bytes: an operation or a status, then
// fields. What comes from a peer is checked against the bounds here before memory is taken for it.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <halfbridge/distributed/error.h>

namespace hb::distributed::tcp {

constexpr uint32_t kLargestFrame = uint32_t{1} << 30;
constexpr uint32_t kAnswerHead = 16;  // at most, before an answer's fields
constexpr uint32_t kLargestKey = uint32_t{64} << 10;
constexpr uint32_t kLargestValue = uint32_t{256} << 20;
constexpr uint32_t kMostKeys = uint32_t{1} << 20;
constexpr size_t kGreeting = 5 + 32;  // "HBST1" and a nonce, or the proof of the secret
constexpr const char* kMagic = "HBST1";

enum class Op : uint8_t {
  set,
  compare_set,
  get,
  add,
  remove,
  check,
  count,
  wait,
  append,
  multi_get,
  multi_set,
  push,
  pop,
  queue_length,
  list,
};
enum class Status : uint8_t { ok, error, timeout, empty };

/// A frame that does not follow the rules.
class Malformed : public Error {
 public:
  explicit Malformed(const std::string& why) : Error("[TCPStore] a peer's message is malformed: " + why) {}
};

class Writer {
 public:
  explicit Writer(uint8_t first) : bytes_(4, '\0') { bytes_ += static_cast<char>(first); }
  void number(int64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), 8); }
  void text(std::string_view value) {
    if (value.size() > kLargestValue)
      throw DistStoreError(
          detail::str("[TCPStore] expected values of at most ", kLargestValue, " bytes, got ", value.size()));
    const uint32_t n = static_cast<uint32_t>(value.size());
    bytes_.append(reinterpret_cast<const char*>(&n), 4);
    bytes_ += value;
  }
  std::string finish() {
    const size_t n = bytes_.size() - 4;
    if (n > kLargestFrame)
      throw DistStoreError(detail::str("[TCPStore] expected messages of at most ", kLargestFrame, " bytes, got ", n));
    const uint32_t length = static_cast<uint32_t>(n);
    std::memcpy(bytes_.data(), &length, 4);
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view frame) : rest_(frame) {}
  explicit Reader(std::string&&) = delete;  // it reads the frame where it lies
  uint8_t byte() { return static_cast<uint8_t>(take(1)[0]); }
  int64_t number() {
    int64_t value;
    std::memcpy(&value, take(8).data(), 8);
    return value;
  }
  std::string_view text(uint32_t largest = kLargestValue) {
    uint32_t n;
    std::memcpy(&n, take(4).data(), 4);
    if (n > largest) throw Malformed(detail::str("a field of ", n, " bytes"));
    return take(n);
  }
  std::string key() { return std::string(text(kLargestKey)); }
  /// How many fields follow.
  uint32_t count() {
    const int64_t n = number();
    if (n < 0 || n > kMostKeys) throw Malformed(detail::str(n, " fields"));
    return static_cast<uint32_t>(n);
  }
  void end() const {
    if (!rest_.empty()) throw Malformed(detail::str(rest_.size(), " bytes too many"));
  }

 private:
  std::string_view take(size_t n) {
    if (rest_.size() < n) throw Malformed("too short");
    const std::string_view part = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return part;
  }
  std::string_view rest_;
};

}  // namespace hb::distributed::tcp
