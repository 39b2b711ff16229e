#include "distributed/shm/engine.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "distributed/shm/phase.h"
#include "distributed/shm/waiting.h"
#include "distributed/text.h"

namespace hb::distributed::shm {

namespace {

constexpr std::chrono::milliseconds kSlice{20};  // between two looks at the other ranks' state
constexpr std::chrono::seconds kPatience{1};     // with a rank that does not answer but has not died

using Clock = std::chrono::steady_clock;

}  // namespace

void break_group(Segment& segment, const std::string& why) {
  Header& header = segment.header();
  uint32_t whole = 0;
  if (!header.broken.compare_exchange_strong(whole, 1)) return;
  const size_t n = why.copy(header.reason, sizeof(header.reason) - 1);
  header.reason[n] = '\0';
  header.broken.store(2, std::memory_order_release);
}

void check_broken(const Segment& segment) {
  if (segment.header().broken.load(std::memory_order_acquire) == 2)
    throw DistBackendError("the group is of no use: " + std::string(segment.header().reason));
}

std::unique_ptr<ShmEngine> ShmEngine::meet(Store& store, int rank, int size) {
  auto segment = Segment::meet(store, rank, size);
  if (!segment) return nullptr;
  auto peers = PeerMemory::meet(store, *segment, rank, size);
  return std::unique_ptr<ShmEngine>(new ShmEngine(std::move(segment), std::move(peers), rank, size));
}

ShmEngine::ShmEngine(std::unique_ptr<Segment> segment, std::unique_ptr<PeerMemory> peers, int rank, int size)
    : Engine(rank, size),
      segment_(std::move(segment)),
      spin_(spin_time(size)),
      messages_(segment_, rank, size),
      peers_(std::move(peers)) {}

ShmEngine::~ShmEngine() = default;

void ShmEngine::leave() { segment_->block(rank_).left.store(1); }

void ShmEngine::abort(const std::string& why) { break_group(*segment_, why); }

std::unique_ptr<Transfer> ShmEngine::send(int peer, int tag, const void* data, size_t bytes, Owner owner) {
  return messages_.send(peer, tag, data, bytes, std::move(owner));
}
std::unique_ptr<Transfer> ShmEngine::recv(int peer, int tag, void* data, size_t bytes, Owner owner) {
  return messages_.recv(peer, tag, data, bytes, std::move(owner));
}

void ShmEngine::put_record(const Call& call, const Place& place) {
  Record& record = segment_->block(rank_).records[(phase_ + 1) & 1];
  record.number = call.number, record.bytes = call.bytes, record.root = call.root;
  record.dtype = static_cast<int8_t>(call.dtype), record.reduction = static_cast<int8_t>(call.reduction);
  record.op = static_cast<uint8_t>(call.op);
  record.process = place.process, record.file = place.file;
  record.region = place.region, record.offset = place.offset, record.address = place.address;
  const size_t n = call.signature().copy(record.text, sizeof(record.text) - 1);
  record.text[n] = '\0';
}

void ShmEngine::compare_records(const Call& call) const {
  const Record& own = segment_->block(rank_).records[phase_ & 1];
  std::string others;
  for (int r = 0; r < size_; ++r) {
    const Record& record = segment_->block(r).records[phase_ & 1];
    if (record.number == own.number && record.bytes == own.bytes && record.root == own.root &&
        record.dtype == own.dtype && record.reduction == own.reduction && record.op == own.op)
      continue;
    others += detail::str(others.empty() ? "" : "; ", "rank ", r, " called ", record.text);
    if (record.number != own.number) others += detail::str(" as its #", record.number);
  }
  if (!others.empty())
    throw Mismatch(detail::str("[", call.text(), "] expected the same call on all ranks, but ", others));
}

bool ShmEngine::reached(int rank) const {
  return static_cast<int32_t>(segment_->block(rank).posted.value.load(std::memory_order_acquire) - phase_) >= 0;
}

/// Where the ranks are that have not come.
std::string ShmEngine::whereabouts(const Call& call) const {
  std::string text;
  for (int r = 0; r < size_; ++r) {
    if (reached(r)) continue;
    const RankBlock& block = segment_->block(r);
    const Record& record = block.records[block.posted.value.load() & 1];
    text += detail::str(text.empty() ? "" : "; ", "rank ", r, " is missing, ");
    if (record.number == call.number)
      text += "which stopped within it";
    else if (record.number)
      text += detail::str("whose last call was ", record.text, " #", record.number);
    else
      text += "which has called nothing";
  }
  return text;
}

void ShmEngine::give_up(const std::string& why) {
  break_group(*segment_, why);
  throw DistBackendError(why);
}

void ShmEngine::look_for_trouble(const Call& call) {
  if (segment_->header().broken.load(std::memory_order_acquire) == 2)
    throw DistBackendError(detail::str("[", call.text(), "] ", segment_->header().reason));
  for (int r = 0; r < size_; ++r) {
    if (reached(r) || segment_->alive(r) || reached(r)) continue;
    const bool left = segment_->block(r).left.load() != 0;
    give_up(detail::str("[", call.text(), "] rank ", r, left ? " has left the group" : " has died"));
  }
  if (Clock::now() >= call.deadline)
    give_up(detail::str("[", call.text(), "] timed out after ", call.timeout.count(), " ms: ", whereabouts(call)));
  if (messages_.pending()) messages_.progress();
}

void ShmEngine::await(const Call& call, int rank) {
  if (reached(rank)) return;
  Word& word = segment_->block(rank).posted;
  // A rank whose core this one holds does not come while this one spins.
  if (spin_.count() && segment_->block(rank).core.load(std::memory_order_relaxed) != current_core()) {
    const auto until = Clock::now() + spin_;
    do {
      for (int i = 0; i < 64; ++i) {
        if (reached(rank)) return;
        pause_cpu();
      }
    } while (Clock::now() < until);
  }
  while (!reached(rank)) {
    const uint32_t seen = word.value.load(std::memory_order_seq_cst);
    if (static_cast<int32_t>(seen - phase_) >= 0) return;
    const auto left = std::max<std::chrono::nanoseconds>(call.deadline - Clock::now(), std::chrono::nanoseconds(1));
    sleep_while(word, seen, std::min<std::chrono::nanoseconds>(messages_.pending() ? kSlice / 20 : kSlice, left));
    if (!reached(rank)) look_for_trouble(call);
  }
}

void ShmEngine::await_all(const Call& call) {
  for (int r = 0; r < size_; ++r)
    if (r != rank_) await(call, r);
}

/// A rank could not be reached: most likely it has died, of which the segment learns a little later.
void ShmEngine::lose(const Call& call, int rank) {
  const std::string why = strerror(errno);
  for (const auto until = Clock::now() + kPatience; Clock::now() < until; std::this_thread::sleep_for(kSlice)) {
    look_for_trouble(call);  // which does not ask about ranks that have come
    if (!segment_->alive(rank)) give_up(detail::str("[", call.text(), "] rank ", rank, " has died"));
  }
  give_up(detail::str("[", call.text(), "] cannot reach the memory of rank ", rank, ": ", why));
}

void ShmEngine::read_peer(const Call& call, int rank, void* to, uint64_t from, size_t bytes) {
  if (!peers_->read(rank, to, from, bytes)) lose(call, rank);
}

/// A rank that gives up says so before it looks whether others write to its memory; so either it waits for this write
/// or this rank sees that it must not begin one.
void ShmEngine::write_peer(const Call& call, int rank, const void* from, uint64_t to, size_t bytes) {
  std::atomic<uint32_t>& writing = segment_->block(rank_).writing;
  writing.store(1);
  const bool broken = segment_->header().broken.load() != 0;
  const bool written = !broken && peers_->write(rank, from, to, bytes);
  const int error = errno;
  writing.store(0);
  if (broken) {
    look_for_trouble(call);
    give_up(detail::str("[", call.text(), "] another rank has given up"));
  }
  errno = error;
  if (!written) lose(call, rank);
}

/// Until no rank writes to this one's memory, which its owner may now give back. A piece takes less than a millisecond;
/// a rank that was stopped within one has written it, or it was stopped in the few instructions before.
void ShmEngine::await_writers() const {
  const auto until = Clock::now() + kPatience;
  for (int r = 0; r < size_; ++r)
    while (r != rank_ && segment_->block(r).writing.load() && segment_->alive(r) && Clock::now() < until)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void ShmEngine::barrier(const Call& call) {
  phase(
      call, true, [] {}, [] {});
}

}  // namespace hb::distributed::shm
