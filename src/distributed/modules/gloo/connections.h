#pragma once

#include <gloo/common/error.h>
#include <gloo/rendezvous/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include <halfbridge/distributed/error.h>

namespace hb::distributed {

/// Learns that a rank is gone. Gloo tells those messages that wait when a connection ends, but not one that is then
/// just changing queues, which would wait for ever: here messages that never come wait for every rank.
class Connections {
 public:
  struct Message {
    gloo::transport::UnboundBuffer& buffer;
    const bool sends;
    const int peer;
    std::string lost;  // why it will not come, under the mutex
  };

  Connections(const std::shared_ptr<gloo::rendezvous::Context>& context, int rank, int size)
      : context_(context), rank_(rank), size_(size), sentinel_(context->createUnboundBuffer(&byte_, 1)) {
    for (int r = 0; r < size; ++r)
      if (r != rank) sentinel_->recv(r, kNeverSent);
    if (size > 1) thread_ = std::thread([this] { watch(); });
  }
  ~Connections() {
    sentinel_->abortWaitRecv();
    if (thread_.joinable()) thread_.join();
  }
  /// Throws if the message's rank is gone.
  void enter(Message& message) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto gone = gone_.find(message.peer);
    if (gone != gone_.end()) throw DistBackendError(gone->second);
    waiting_.insert(&message);
  }
  void leave(Message& message) {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_.erase(&message);
  }
  /// Empty while the message may come.
  std::string lost(const Message& message) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return message.lost;
  }

 private:
  static constexpr uint64_t kNeverSent = ~uint64_t{0};

  void watch() {
    try {
      sentinel_->waitRecv(nullptr, std::chrono::hours(24 * 365));
      return;                           // aborted
    } catch (const gloo::Exception&) {  // by then the connection says so to whoever uses it
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    for (int r = 0; r < size_; ++r) {
      if (r == rank_) continue;
      try {
        context_->createUnboundBuffer(&byte_, 1)->recv(r, kNeverSent);
      } catch (const std::exception& e) {
        gone_[r] = e.what();
      }
    }
    for (Message* message : waiting_) {
      const auto gone = gone_.find(message->peer);
      if (gone == gone_.end()) continue;
      message->lost = gone->second;
      message->sends ? message->buffer.abortWaitSend() : message->buffer.abortWaitRecv();
    }
  }

  const std::shared_ptr<gloo::rendezvous::Context> context_;
  const int rank_, size_;
  char byte_ = 0;
  std::unique_ptr<gloo::transport::UnboundBuffer> sentinel_;
  std::mutex mutex_;
  std::map<int, std::string> gone_;
  std::set<Message*> waiting_;
  std::thread thread_;
};

}  // namespace hb::distributed
