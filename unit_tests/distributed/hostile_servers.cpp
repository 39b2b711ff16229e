// What a server may say to the client of a TCPStore: whatever it is, the client gets an error and goes on.
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <random>
#include <string>
#include <thread>
#include <tuple>

#include "distributed/listening.h"
#include "distributed/ranks.h"

namespace {

/// Listens, and lets `talk` have each connection.
class Impostor {
 public:
  explicit Impostor(std::function<void(int)> talk) : talk_(std::move(talk)) {
    std::tie(fd_, port_) = listening_socket();
    thread_ = std::thread([this] {
      for (;;) {
        const int peer = accept(fd_, nullptr, nullptr);
        if (peer < 0) return;
        talk_(peer);
        close(peer);
      }
    });
  }
  ~Impostor() {
    shutdown(fd_, SHUT_RDWR);
    thread_.join();
    close(fd_);
  }
  uint16_t port() const { return port_; }

 private:
  std::function<void(int)> talk_;
  int fd_ = -1;
  uint16_t port_ = 0;
  std::thread thread_;
};

c10d::TCPStoreOptions asking(uint16_t port) {
  c10d::TCPStoreOptions options;
  options.port = port;
  options.waitWorkers = false;
  options.timeout = std::chrono::milliseconds(2000);
  return options;
}

std::string number(uint64_t value, size_t bytes) { return {reinterpret_cast<const char*>(&value), bytes}; }
std::string frame(const std::string& body) { return number(body.size(), 4) + body; }
void say(int fd, const std::string& bytes) { send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
const std::string kGreeting = "HBST1" + std::string(32, 'n');

/// What came, as far as it is there.
void take_request(int fd) {
  pollfd polled{fd, POLLIN, 0};
  char buffer[4096];
  if (poll(&polled, 1, 2000) > 0) (void)!recv(fd, buffer, sizeof(buffer), 0);
}

/// What a store says until a client has joined it.
void greet(int fd) {
  say(fd, kGreeting);
  char proof[37];
  recv(fd, proof, sizeof(proof), MSG_WAITALL);
  say(fd, frame(std::string(1, '\0')));
  take_request(fd);
  say(fd, frame(std::string(1, '\0') + number(1, 8)));
}

TEST(HostileServers, NoGreetingOfAStore) {
  for (const std::string& words :
       {std::string(), std::string("HTTP/1.1 400 Bad Request\r\n\r\n........................"), std::string(37, '\0'),
        kGreeting, kGreeting + number(0, 4), kGreeting + number(0xffffffff, 4), kGreeting + number(1 << 20, 4),
        kGreeting + frame(std::string(1, '\1')), kGreeting + frame(std::string(1, '\1') + number(0xfffffff0, 4)),
        kGreeting + frame("\x7f")}) {
    const Impostor server([&](int fd) {
      say(fd, words);
      take_request(fd);
    });
    EXPECT_THROW(c10::make_intrusive<c10d::TCPStore>("127.0.0.1", asking(server.port())), c10::Error)
        << words.substr(0, 5) << words.size();
  }
}

using Call = std::function<void(c10d::Store&)>;
const std::vector<Call>& calls() {
  static const std::vector<Call> list{
      [](c10d::Store& s) { s.get("k"); },
      [](c10d::Store& s) { s.add("k", 1); },
      [](c10d::Store& s) { s.compareSet("k", "a", "b"); },
      [](c10d::Store& s) {
        s.multiGet({"a", "b"});
      },
      [](c10d::Store& s) { s.check({"k"}); },
      [](c10d::Store& s) { s.listKeys(); },
      [](c10d::Store& s) { s.queuePop("q", false); },
      [](c10d::Store& s) { s.wait({"k"}, std::chrono::milliseconds(50)); },
  };
  return list;
}

TEST(HostileServers, AnswersThatAreNone) {
  for (const std::string& words : {number(0, 4), number(0xffffffff, 4), frame("\x7f"), frame("\x01"), frame("\x02"),
                                   frame(std::string(1, '\0') + number(0xfffffff0, 4)), number(100, 4) + "short"}) {
    for (const Call& call : calls()) {
      if (&call == &calls().back() && words.substr(4, 1) == std::string(1, '\0')) continue;  // a good answer to wait()
      const Impostor server([&](int fd) {
        greet(fd);
        take_request(fd);
        say(fd, words);
      });
      const auto store = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", asking(server.port()));
      EXPECT_THROW(call(*store), c10::Error);
    }
  }
}

TEST(HostileServers, AnyAnswer) {
  std::mt19937 random(11);
  for (int i = 0; i < 200; ++i) {
    std::string body(random() % 60 + 1, '\0');
    for (char& c : body) c = static_cast<char>(random() % 5 ? random() % 4 : random());
    const Impostor server([&](int fd) {
      greet(fd);
      take_request(fd);
      say(fd, frame(body));
    });
    const auto store = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", asking(server.port()));
    try {
      calls()[static_cast<size_t>(i) % calls().size()](*store);
    } catch (const c10::Error&) {
    }
  }
}

/// Ranks of a group believe what others wrote into the store, so that a rank may say anything there.
TEST(HostileServers, WhatARankMayWriteToMeet) {
  const std::string path = "/proc/sys/kernel/random/boot_id";
  for (const std::string& where :
       {std::string(), std::string("none"), std::string("1"), std::string("x/fd/y token"),
        std::string("self/../../etc/hostname token"), "99999999/fd/3 " + std::string(5000, 't'),
        std::string("self/fd/0 token"), std::string("-1/fd/-1 t")}) {
    const auto store = c10::make_intrusive<c10d::HashStore>();
    // What rank 0 says of its host is what this process says of its own: written by a group of one that looks like it.
    c10::make_intrusive<c10d::ProcessGroupGloo>(store, 0, 1, c10d::ProcessGroupGloo::Options::create());
    store->set("shm/segment", where);
    store->set("shm/mapped/0", "no");
    store->setTimeout(std::chrono::milliseconds(300));
    try {
      c10::make_intrusive<c10d::ProcessGroupGloo>(
          store, 1, 2, c10d::ProcessGroupGloo::Options::create(std::chrono::milliseconds(300)));
      ADD_FAILURE() << "a group without its first rank";
    } catch (const std::exception&) {
    }
  }
}

}  // namespace
