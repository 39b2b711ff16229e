#include "distributed/shm/messages.h"

#include <algorithm>
#include <cstring>

#include "distributed/shm/engine.h"
#include "distributed/shm/waiting.h"

namespace hb::distributed::shm {

struct Messages::Item {
  int peer, tag;
  unsigned char* data;
  size_t bytes;
  Owner owner;
  bool sends;
  size_t moved = 0;
  bool announced = false;  // the head of a send is in the ring
  bool done = false;
  int source = -1;
  std::string error;
};
using Item = Messages::Item;

namespace {

struct Head {
  int64_t tag;
  uint64_t bytes;
};

void copy_into(Ring& ring, const void* from, size_t bytes) {
  const uint64_t at = ring.written.load(std::memory_order_relaxed);
  const size_t begin = at % kRingBytes, first = std::min(bytes, kRingBytes - begin);
  std::memcpy(ring.bytes + begin, from, first);
  std::memcpy(ring.bytes, static_cast<const unsigned char*>(from) + first, bytes - first);
  ring.written.store(at + bytes, std::memory_order_release);
}

void copy_from(Ring& ring, void* to, size_t bytes) {
  const uint64_t at = ring.read.load(std::memory_order_relaxed);
  const size_t begin = at % kRingBytes, first = std::min(bytes, kRingBytes - begin);
  if (to) {
    std::memcpy(to, ring.bytes + begin, first);
    std::memcpy(static_cast<unsigned char*>(to) + first, ring.bytes, bytes - first);
  }
  ring.read.store(at + bytes, std::memory_order_release);
}

size_t filled(const Ring& ring) {
  return ring.written.load(std::memory_order_acquire) - ring.read.load(std::memory_order_acquire);
}

}  // namespace

/// A message that comes in: into a receive that waits for it, else into memory of its own until there is one.
struct Messages::Arrival {
  Head head;
  size_t got = 0;
  std::shared_ptr<Item> item;
  std::vector<unsigned char> kept;
  bool complete() const { return got == head.bytes; }
};

struct Messages::Shared {
  std::shared_ptr<Segment> segment;
  int rank, size;
  std::mutex mutex;
  std::vector<std::deque<std::shared_ptr<Item>>> sends;       // of each peer
  std::list<std::shared_ptr<Item>> receives;                  // that no message has come for
  std::vector<std::list<std::shared_ptr<Arrival>>> arrivals;  // of each peer, the last one perhaps not complete

  bool push(int peer);
  bool pull(int peer);
  void adopt(Arrival& arrival, const std::shared_ptr<Item>& item, int peer);
  void finish(Arrival& arrival);
  void progress();
};

/// Writes what has room; true if that was anything.
bool Messages::Shared::push(int peer) {
  Ring& ring = segment->ring(rank, peer);
  bool moved = false;
  while (!sends[peer].empty()) {
    Item& item = *sends[peer].front();
    if (!item.announced) {
      if (kRingBytes - filled(ring) < sizeof(Head)) break;
      const Head head{item.tag, item.bytes};
      copy_into(ring, &head, sizeof(head));
      item.announced = moved = true;
    }
    const size_t n = std::min(item.bytes - item.moved, kRingBytes - filled(ring));
    if (n) copy_into(ring, item.data + item.moved, n), item.moved += n, moved = true;
    if (item.moved < item.bytes) break;
    item.done = true;
    item.owner = nullptr;
    sends[peer].pop_front();
  }
  return moved;
}

void Messages::Shared::finish(Arrival& arrival) {
  Item& item = *arrival.item;
  item.done = true;
  item.owner = nullptr;
}

/// A receive and the message that it waited for.
void Messages::Shared::adopt(Arrival& arrival, const std::shared_ptr<Item>& item, int peer) {
  arrival.item = item;
  item->source = peer;
  if (item->bytes != arrival.head.bytes)
    item->error = detail::str("expected ", item->bytes, " bytes, got a message of ", arrival.head.bytes,
                              " bytes from rank ", peer);
  else if (arrival.got)
    std::memcpy(item->data, arrival.kept.data(), arrival.got);
  if (arrival.complete()) finish(arrival);
}

/// Reads what has come; true if that was anything.
bool Messages::Shared::pull(int peer) {
  Ring& ring = segment->ring(peer, rank);
  auto& list = arrivals[peer];
  bool moved = false;
  for (;;) {
    if (list.empty() || list.back()->complete()) {
      if (filled(ring) < sizeof(Head)) break;
      auto arrival = std::make_shared<Arrival>();
      copy_from(ring, &arrival->head, sizeof(Head));
      list.push_back(arrival);
      moved = true;
      const auto fits = [&](const std::shared_ptr<Item>& item) {
        return item->tag == arrival->head.tag && (item->peer == peer || item->peer < 0);
      };
      const auto found = std::find_if(receives.begin(), receives.end(), fits);
      if (found != receives.end()) {
        adopt(*arrival, *found, peer);
        receives.erase(found);
      } else {
        arrival->kept.resize(arrival->head.bytes);
      }
    }
    Arrival& arrival = *list.back();
    const size_t n = std::min<size_t>(arrival.head.bytes - arrival.got, filled(ring));
    unsigned char* to = nullptr;
    if (!arrival.item)
      to = arrival.kept.data() + arrival.got;
    else if (arrival.item->error.empty())
      to = arrival.item->data + arrival.got;
    if (n) copy_from(ring, to, n), arrival.got += n, moved = true;
    if (!arrival.complete()) break;
    if (arrival.item) {
      finish(arrival);
      list.pop_back();
    }
  }
  return moved;
}

void Messages::Shared::progress() {
  for (int peer = 0; peer < size; ++peer) {
    const bool pushed = push(peer), pulled = pull(peer);
    if (pushed || pulled) advance(segment->block(peer).doorbell);
  }
}

namespace {

/// Trouble that ends a wait for a message.
void check_peer(const Segment& segment, const Item& item) {
  check_broken(segment);
  if (item.peer < 0) return;
  if (!segment.alive(item.peer))
    throw DistBackendError(detail::str("[", item.sends ? "SEND" : "RECV", "] rank ", item.peer,
                                       segment.block(item.peer).left.load() ? " has left the group" : " has died"));
}

}  // namespace

class ShmTransfer : public Transfer {
 public:
  ShmTransfer(std::shared_ptr<Messages::Shared> shared, std::shared_ptr<Item> item)
      : shared_(std::move(shared)), item_(std::move(item)) {}

  bool test() override {
    std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->progress();
    return completed();
  }

  bool wait(Deadline deadline) override {
    Word& bell = shared_->segment->block(shared_->rank).doorbell;
    const auto spin_until = std::chrono::steady_clock::now() + spin_time(shared_->size);
    for (;;) {
      const uint32_t seen = bell.value.load(std::memory_order_seq_cst);
      if (test()) return true;
      const auto now = std::chrono::steady_clock::now();
      if (now >= deadline) return false;
      if (now < spin_until) {
        pause_cpu();
        continue;
      }
      // Another thread of this rank may move this message without ringing here, hence the short slices.
      sleep_while(bell, seen, std::min<std::chrono::nanoseconds>(deadline - now, std::chrono::milliseconds(5)));
      if (!test()) check_peer(*shared_->segment, *item_);
    }
  }

  int source() const override { return item_->source; }

 private:
  bool completed() const {
    if (item_->done && !item_->error.empty()) throw DistBackendError("[RECV] " + item_->error);
    return item_->done;
  }

  std::shared_ptr<Messages::Shared> shared_;
  std::shared_ptr<Item> item_;
};

Messages::Messages(std::shared_ptr<Segment> segment, int rank, int size) : shared_(std::make_shared<Shared>()) {
  shared_->segment = std::move(segment);
  shared_->rank = rank;
  shared_->size = size;
  shared_->sends.resize(size);
  shared_->arrivals.resize(size);
}

std::unique_ptr<Transfer> Messages::send(int peer, int tag, const void* data, size_t bytes, Owner owner) {
  auto item = std::make_shared<Item>();
  item->peer = peer, item->tag = tag, item->bytes = bytes, item->owner = std::move(owner), item->sends = true;
  item->data = static_cast<unsigned char*>(const_cast<void*>(data));
  std::lock_guard<std::mutex> lock(shared_->mutex);
  shared_->sends[peer].push_back(item);
  shared_->progress();
  return std::make_unique<ShmTransfer>(shared_, item);
}

std::unique_ptr<Transfer> Messages::recv(int peer, int tag, void* data, size_t bytes, Owner owner) {
  auto item = std::make_shared<Item>();
  item->peer = peer, item->tag = tag, item->bytes = bytes, item->owner = std::move(owner), item->sends = false;
  item->data = static_cast<unsigned char*>(data);
  std::lock_guard<std::mutex> lock(shared_->mutex);
  for (int from = peer < 0 ? 0 : peer; from < (peer < 0 ? shared_->size : peer + 1) && item->source < 0; ++from) {
    auto& list = shared_->arrivals[from];
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const auto& a) { return !a->item && a->head.tag == tag; });
    if (found == list.end()) continue;
    shared_->adopt(**found, item, from);
    if ((*found)->complete()) list.erase(found);
  }
  if (item->source < 0) shared_->receives.push_back(item);
  shared_->progress();
  return std::make_unique<ShmTransfer>(shared_, item);
}

void Messages::progress() {
  std::lock_guard<std::mutex> lock(shared_->mutex);
  shared_->progress();
}

bool Messages::pending() {
  std::lock_guard<std::mutex> lock(shared_->mutex);
  for (const auto& queue : shared_->sends)
    if (!queue.empty()) return true;
  return false;
}

}  // namespace hb::distributed::shm
