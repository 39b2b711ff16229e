#pragma once
// SHA-256 and HMAC (FIPS 180-4, RFC 2104): a client proves that it knows the secret without sending it.

#include <array>
#include <cstdint>
#include <string>

namespace hb::distributed::tcp {

using Digest = std::array<uint8_t, 32>;

Digest sha256(const std::string& message);
Digest hmac_sha256(const std::string& key, const std::string& message);

}  // namespace hb::distributed::tcp
