// Stores, and what hostile peers may do to one that is served over TCP.
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <thread>

#include "distributed/listening.h"
#include "distributed/ranks.h"

namespace {

using c10d::Store;
using StorePtr = c10::intrusive_ptr<Store>;
using Bytes = std::vector<uint8_t>;
using std::chrono::milliseconds;

c10d::TCPStoreOptions serving(uint16_t port = 0) {
  c10d::TCPStoreOptions options;
  options.port = port;
  options.isServer = true;
  options.waitWorkers = false;
  options.timeout = std::chrono::seconds(20);
  return options;
}

c10d::TCPStoreOptions asking(uint16_t port) {
  c10d::TCPStoreOptions options = serving(port);
  options.isServer = false;
  return options;
}

void check_store(const StorePtr& store) {
  store->set("a", "1");
  EXPECT_EQ(store->get_to_str("a"), "1");
  store->set("binary", Bytes{0, 255, 10, 0});
  EXPECT_EQ(store->get("binary"), (Bytes{0, 255, 10, 0}));
  store->set("empty", "");
  EXPECT_EQ(store->get_to_str("empty"), "");
  EXPECT_EQ(store->add("n", 5), 5);
  EXPECT_EQ(store->add("n", -7), -2);
  EXPECT_EQ(store->get_to_str("n"), "-2");
  EXPECT_THROW(store->add("binary", 1), c10::Error);
  EXPECT_TRUE(store->check({"a", "n"}));
  EXPECT_FALSE(store->check({"a", "missing"}));
  EXPECT_EQ(store->compareSet("a", "2", "3"), "1");
  EXPECT_EQ(store->compareSet("a", "1", "3"), "3");
  EXPECT_EQ(store->compareSet("new", "", "first"), "first");
  EXPECT_EQ(store->compareSet("missing", "something", "other"), "something");
  EXPECT_FALSE(store->check({"missing"}));
  store->append("log", Bytes{'x'});
  store->append("log", Bytes{'y'});
  EXPECT_EQ(store->get_to_str("log"), "xy");
  store->multiSet({"m1", "m2"}, {Bytes{1}, Bytes{2}});
  EXPECT_EQ(store->multiGet({"m2", "m1"}), (std::vector<Bytes>{{2}, {1}}));
  EXPECT_TRUE(store->deleteKey("m1"));
  EXPECT_FALSE(store->deleteKey("m1"));
  EXPECT_GE(store->getNumKeys(), 6);
  const auto keys = store->listKeys();
  EXPECT_NE(std::find(keys.begin(), keys.end(), "a"), keys.end());
  EXPECT_THROW(store->wait({"missing"}, milliseconds(30)), c10::DistStoreError);
  // Another handle sees the same keys, and a wait ends when the key comes.
  const StorePtr other = store->clone();
  std::thread setter([&] {
    std::this_thread::sleep_for(milliseconds(30));
    other->set("late", "here");
  });
  EXPECT_EQ(store->get_to_str("late"), "here");
  setter.join();
  const c10d::StoreTimeoutGuard guard(*store, milliseconds(30));
  EXPECT_THROW(store->get("missing"), c10::DistStoreError);
}

void check_queues(const StorePtr& store) {
  EXPECT_EQ(store->queueLen("q"), 0);
  EXPECT_THROW(store->queuePop("q", false), hb::DistQueueEmptyError);
  store->queuePush("q", Bytes{1});
  store->queuePush("q", Bytes{2});
  EXPECT_EQ(store->queueLen("q"), 2);
  EXPECT_EQ(store->queuePop("q", true), Bytes{1});
  EXPECT_EQ(store->queuePop("q", false), Bytes{2});
  const StorePtr other = store->clone();
  std::thread pusher([&] {
    std::this_thread::sleep_for(milliseconds(30));
    other->queuePush("q", Bytes{3});
  });
  EXPECT_EQ(store->queuePop("q", true), Bytes{3});
  pusher.join();
}

TEST(DistributedStores, Hash) {
  const StorePtr store = c10::make_intrusive<c10d::HashStore>();
  check_store(store);
  check_queues(store);
}

TEST(DistributedStores, File) {
  const std::string path = std::filesystem::temp_directory_path() / ("hb_store_" + std::to_string(getpid()));
  {
    const StorePtr store = c10::make_intrusive<c10d::FileStore>(path, 2),
                   second = c10::make_intrusive<c10d::FileStore>(path, 2);
    check_store(store);
    EXPECT_EQ(second->get_to_str("a"), "3");
    // What a process that was killed while it wrote has left is passed over.
    FILE* file = fopen(path.c_str(), "ab");
    fwrite("\x09\0\0\0\x20\0\0\0half", 1, 12, file);
    fclose(file);
    second->set("after", "1");
    EXPECT_EQ(store->get_to_str("after"), "1");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  {
    FILE* file = fopen(path.c_str(), "wb");
    fwrite("this is no store at all", 1, 23, file);
    fclose(file);
    const StorePtr store = c10::make_intrusive<c10d::FileStore>(path, -1);
    EXPECT_THROW(store->set("a", "1"), c10::Error);
  }
  std::filesystem::remove(path);
}

TEST(DistributedStores, TcpAndPrefix) {
  const auto server = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", serving());
  const StorePtr client = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", asking(server->getPort()));
  check_store(client);
  check_queues(client);
  const StorePtr prefixed = c10::make_intrusive<c10d::PrefixStore>("group", server);
  check_store(prefixed);
  check_queues(prefixed);
  EXPECT_EQ(server->get_to_str("group/a"), "3");
  const Bytes large(8 << 20, 7);
  client->set("large", large);
  EXPECT_EQ(server->get("large"), large);
  EXPECT_THROW(client->set(std::string(1 << 17, 'k'), "v"), c10::DistStoreError);
}

TEST(DistributedStores, TcpWaitsForWorkers) {
  auto options = serving();
  options.numWorkers = 3;
  options.waitWorkers = true;
  options.timeout = milliseconds(100);
  EXPECT_THROW(c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options), c10::DistStoreError);
  auto unreachable = asking(1);
  unreachable.timeout = milliseconds(100);
  EXPECT_THROW(c10::make_intrusive<c10d::TCPStore>("127.0.0.1", unreachable), c10::DistNetworkError);
}

TEST(DistributedStores, TcpServerThatEndsIsAnError) {
  auto server = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", serving());
  const StorePtr client = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", asking(server->getPort()));
  std::thread ends([&] {
    std::this_thread::sleep_for(milliseconds(30));
    server.reset();
  });
  EXPECT_THROW(client->get("never"), c10::DistNetworkError);
  ends.join();
  EXPECT_THROW(client->set("a", "b"), c10::DistNetworkError);
}

TEST(DistributedStores, TcpSecret) {
  c10::intrusive_ptr<c10d::TCPStore> server;
  {
    const ranks::Setting secret("HALFBRIDGE_SECRET", "open sesame");
    server = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", serving());
    c10::make_intrusive<c10d::TCPStore>("127.0.0.1", asking(server->getPort()))->set("a", "1");
  }
  EXPECT_THROW(c10::make_intrusive<c10d::TCPStore>("127.0.0.1", asking(server->getPort())), c10::DistNetworkError);
  const ranks::Setting wrong("HALFBRIDGE_SECRET", "open barley");
  EXPECT_THROW(c10::make_intrusive<c10d::TCPStore>("127.0.0.1", asking(server->getPort())), c10::DistNetworkError);
}

TEST(DistributedStores, TcpListensOnTheChosenAddressAlone) {
  const auto server = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", serving());
  auto other = asking(server->getPort());
  other.timeout = milliseconds(100);
  EXPECT_THROW(c10::make_intrusive<c10d::TCPStore>("127.0.0.2", other), c10::DistNetworkError);
  EXPECT_THROW(c10::make_intrusive<c10d::TCPStore>("192.0.2.1", serving()), c10::DistNetworkError);
}

/// A peer that speaks as it likes.
class Peer {
 public:
  explicit Peer(uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    timeval patience{20, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    EXPECT_EQ(recv(fd_, greeting_, sizeof(greeting_), MSG_WAITALL), 37);
  }
  ~Peer() { close(fd_); }
  void say(const std::string& bytes) { send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  /// Lets a real client greet the server through this connection.
  void greet_as_client() {
    const auto [listener, port] = listening_socket();
    std::thread client([port = port] {
      EXPECT_THROW(c10::make_intrusive<c10d::TCPStore>("127.0.0.1", asking(port)), c10::DistNetworkError);
    });
    const int fd = accept(listener, nullptr, nullptr);
    char proof[37];
    send(fd, greeting_, sizeof(greeting_), MSG_NOSIGNAL);
    EXPECT_EQ(recv(fd, proof, sizeof(proof), MSG_WAITALL), 37);
    close(fd);
    close(listener);
    client.join();
    say(std::string(proof, sizeof(proof)));
    char answer[5];
    EXPECT_EQ(recv(fd_, answer, sizeof(answer), MSG_WAITALL), 5);
    EXPECT_EQ(answer[4], 0);
  }
  /// True when the server hangs up.
  bool is_cut_off() {
    char buffer[256];
    for (;;) {
      const ssize_t n = recv(fd_, buffer, sizeof(buffer), 0);
      if (n == 0 || (n < 0 && errno == ECONNRESET)) return true;
      if (n < 0) return false;
    }
  }

 private:
  int fd_;
  char greeting_[37];
};

std::string number(uint64_t value, size_t bytes) { return std::string(reinterpret_cast<const char*>(&value), bytes); }
std::string frame(const std::string& body) { return number(body.size(), 4) + body; }

TEST(DistributedStores, TcpMalformedFramesAreCutOff) {
  const auto server = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", serving());
  const std::string set(1, '\0'), get(1, '\2'), key = number(2, 4) + "/k";
  for (const std::string& words :
       {number(0, 4), number(0xffffffff, 4), frame("\x7f"), frame(set), frame(set + number(0xfffffff0, 4)),
        frame(set + number(1 << 20, 4) + std::string(1 << 20, 'k')), frame(set + key + number(5, 4) + "abc"),
        frame(set + key + number(1, 4) + "abc"), frame(get + number(0, 8) + number(~0ull, 8)),
        frame(get + number(0, 8) + number(1 << 30, 8)),
        frame("\x0c" + number(0, 8) + number(2, 8) + key + key + number(0, 8))}) {
    Peer peer(server->getPort());
    peer.greet_as_client();
    peer.say(words);
    EXPECT_TRUE(peer.is_cut_off());
  }
  std::mt19937 random(7);
  for (int i = 0; i < 30; ++i) {
    Peer peer(server->getPort());
    peer.greet_as_client();
    std::string body(random() % 40 + 1, '\0');
    for (char& c : body) c = static_cast<char>(random() % 6 ? random() % 16 : random());
    peer.say(frame(body));
  }
  Peer slow(server->getPort());  // half a frame, and no more
  slow.greet_as_client();
  slow.say(frame(set + key + number(3, 4) + "abc").substr(0, 9));
  server->set("a", "1");
  EXPECT_EQ(server->get_to_str("a"), "1");
}

// A short request may ask for one large value many times over: the server says so before it takes memory.
TEST(DistributedStores, TcpAnswersThatAreTooLargeAreRefused) {
  const auto server = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", serving());
  server->set("large", std::vector<uint8_t>(64 << 20, 'x'));
  try {
    server->multiGet(std::vector<std::string>(20, "large"));
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("expected an answer of at most"), std::string::npos) << error.what();
  }
  EXPECT_EQ(server->multiGet({"large", "large"})[1].size(), size_t{64} << 20);
}

TEST(DistributedStores, TcpHostilePeersAreCutOff) {
  const auto server = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", serving());
  for (const std::string& words : {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("HBST1") + std::string(32, 'x'),
                                   std::string(100000, '\xff'), std::string(37, '\0')}) {
    Peer peer(server->getPort());
    peer.say(words);
    EXPECT_TRUE(peer.is_cut_off()) << words.substr(0, 20);
  }
  // One that says nothing, or a byte now and then, holds nobody up.
  Peer silent(server->getPort()), slow(server->getPort());
  for (int i = 0; i < 5; ++i) slow.say("H"), server->set("a", std::to_string(i));
  EXPECT_EQ(server->get_to_str("a"), "4");
}

}  // namespace
