#pragma once
// Two hosts of one machine: network namespaces with a link between them that can be cut and slowed.

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

namespace network {

inline bool does(const std::string& command) { return std::system((command + " > /dev/null 2>&1").c_str()) == 0; }

class TwoHosts {
 public:
  TwoHosts() {
    for (const char* side : {"a", "b"}) does("ip netns del " + space(side));
    made_ = geteuid() == 0 && does("ip netns add " + space("a")) && does("ip netns add " + space("b")) &&
            does("ip link add " + card("a") + " netns " + space("a") + " type veth peer name " + card("b") + " netns " +
                 space("b"));
    for (const char* side : {"a", "b"})
      made_ = made_ && does(on(side) + "ip link set lo up") && does(on(side) + "ip link set " + card(side) + " up") &&
              does(on(side) + "ip address add " + address(side) + "/24 dev " + card(side));
  }
  ~TwoHosts() {
    for (const char* side : {"a", "b"}) does("ip netns del " + space(side));
  }
  TwoHosts(const TwoHosts&) = delete;
  TwoHosts& operator=(const TwoHosts&) = delete;

  /// False where this user or system has no network namespaces.
  bool made() const { return made_; }
  void cut() const { does(on("a") + "ip link set " + card("a") + " down"); }
  void mend() const { does(on("a") + "ip link set " + card("a") + " up"); }
  /// Bits per second, "10mbit"; false where the system cannot.
  bool slow(const std::string& rate) const {
    bool done = true;
    for (const char* side : {"a", "b"})
      done = done && does(on(side) + "tc qdisc add dev " + card(side) + " root tbf rate " + rate +
                          " burst 64kbit latency 1000ms");
    return done;
  }
  std::string address(const std::string& side) const { return "10.213.77." + std::string(side == "a" ? "1" : "2"); }
  /// What a command on this host begins with.
  std::vector<std::string> command(const std::string& side) const {
    return {
        "ip", "netns", "exec", space(side), "env", "HALFBRIDGE_HOST_NAME=" + side, "GLOO_SOCKET_IFNAME=" + card(side)};
  }
  std::string line(const std::string& side) const {
    std::string line;
    for (const auto& word : command(side)) line += word + " ";
    return line;
  }

 private:
  static std::string space(const std::string& side) { return "hb" + std::to_string(getpid()) + side; }
  static std::string card(const std::string& side) { return "hbv" + std::to_string(getpid()) + side; }
  static std::string on(const std::string& side) { return "ip netns exec " + space(side) + " "; }
  bool made_ = false;
};

}  // namespace network
