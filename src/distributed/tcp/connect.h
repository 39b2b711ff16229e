#pragma once
// Sockets of a TCPStore.

#include <chrono>
#include <string>

namespace hb::distributed::tcp {

/// A socket that listens on the host's address, or on the one that HALFBRIDGE_LISTEN names. Port 0: the system chooses.
int listen_on(const std::string& host, uint16_t port);
/// A connection; tries again until the timeout (0: none) passes, as the server may start later.
int connect_to(const std::string& host, uint16_t port, std::chrono::milliseconds timeout);
/// HALFBRIDGE_SECRET, empty without one.
std::string secret();

}  // namespace hb::distributed::tcp
