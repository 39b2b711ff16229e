#include "distributed/tcp/sha256.h"

#include <cmath>

namespace hb::distributed::tcp {

namespace {

uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

/// The first 32 bits of the fractions of the roots of primes, as the standard defines its constants.
struct Constants {
  uint32_t round[64], start[8];
  Constants() {
    int found = 0;
    for (uint32_t n = 2; found < 64; ++n) {
      bool prime = true;
      for (uint32_t d = 2; d * d <= n; ++d) prime &= n % d != 0;
      if (!prime) continue;
      const auto bits = [](long double root) {
        return static_cast<uint32_t>((root - std::floor(root)) * 4294967296.0L);
      };
      if (found < 8) start[found] = bits(std::sqrt(static_cast<long double>(n)));
      round[found++] = bits(std::cbrt(static_cast<long double>(n)));
    }
  }
};

void block(uint32_t* state, const uint8_t* bytes, const uint32_t* k) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i)
    w[i] = uint32_t{bytes[4 * i]} << 24 | uint32_t{bytes[4 * i + 1]} << 16 | uint32_t{bytes[4 * i + 2]} << 8 |
           bytes[4 * i + 3];
  for (int i = 16; i < 64; ++i) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
  }
  uint32_t s[8];
  for (int i = 0; i < 8; ++i) s[i] = state[i];
  for (int i = 0; i < 64; ++i) {
    const uint32_t e = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25), choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
    const uint32_t a = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
    const uint32_t most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    const uint32_t first = s[7] + e + choice + k[i] + w[i];
    for (int j = 7; j > 0; --j) s[j] = s[j - 1];
    s[4] += first;
    s[0] = first + a + most;
  }
  for (int i = 0; i < 8; ++i) state[i] += s[i];
}

}  // namespace

Digest sha256(const std::string& message) {
  static const Constants constants;
  std::string padded = message + '\x80';
  padded.append((120 - padded.size() % 64) % 64, '\0');
  const uint64_t bits = uint64_t{message.size()} * 8;
  for (int i = 7; i >= 0; --i) padded += static_cast<char>(bits >> (8 * i));
  uint32_t state[8];
  for (int i = 0; i < 8; ++i) state[i] = constants.start[i];
  for (size_t at = 0; at < padded.size(); at += 64)
    block(state, reinterpret_cast<const uint8_t*>(padded.data()) + at, constants.round);
  Digest digest;
  for (size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

Digest hmac_sha256(const std::string& key, const std::string& message) {
  const auto text = [](const Digest& d) { return std::string(d.begin(), d.end()); };
  std::string block = key.size() > 64 ? text(sha256(key)) : key;
  block.resize(64, '\0');
  std::string inner = block, outer = block;
  for (char& c : inner) c ^= 0x36;
  for (char& c : outer) c ^= 0x5c;
  return sha256(outer + text(sha256(inner + message)));
}

}  // namespace hb::distributed::tcp
