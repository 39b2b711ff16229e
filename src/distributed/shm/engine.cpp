#include "distributed/shm/engine.h"

#include <algorithm>
#include <cstring>

#include "distributed/shm/phase.h"
#include "distributed/shm/waiting.h"
#include "distributed/text.h"

namespace hb::distributed::shm {

namespace {

constexpr std::chrono::milliseconds kSlice{20};   // between two looks at the other ranks' state
constexpr size_t kSmallBytes = size_t{64} << 10;  // reduced by all ranks alike, in one phase
constexpr size_t kHotElements = 2048;             // of which the first cache keeps the result until it is copied

using Clock = std::chrono::steady_clock;

size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }

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

ShmEngine::ShmEngine(std::unique_ptr<Segment> segment, int rank, int size)
    : Engine(rank, size), segment_(std::move(segment)), spin_(spin_time(size)), messages_(segment_, rank, size) {}

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
  record.region = place.region, record.offset = place.offset;
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

/// All ranks reduce everything.
void ShmEngine::exchange_small(const Call& call, void* data, size_t count, bool keep) {
  const size_t bytes = count * element_size(call.dtype);
  phase(
      call, true, [&] { std::memcpy(writable(), data, bytes); },
      [&] {
        if (!keep) return;
        std::vector<const void*> in(size_);
        for (int r = 0; r < size_; ++r) in[r] = r == rank_ ? data : readable(r);
        reduce_memory(call, data, in.data(), size_, count);
      });
}

/// Rank q reduces part q of each chunk, for all or for the root. A phase carries what others reduce of one chunk and
/// the result of the chunk before.
void ShmEngine::exchange_in_parts(const Call& call, void* data, size_t count, int root) {
  const bool keep = root < 0 || root == rank_;
  const size_t element = element_size(call.dtype), room = kSlotBytes / (size_ + 1) / 64 * 64;
  // Chunks of one size, in whole lines.
  const size_t most = room / element * size_, lines = size_t{64} * size_;
  const size_t per_chunk = std::min(most, divide_up(divide_up(count, divide_up(count, most)), lines) * lines);
  const size_t chunks = divide_up(count, per_chunk);
  auto* bytes = static_cast<unsigned char*>(data);
  struct Part {
    unsigned char* at;
    size_t count;
  };
  const auto part = [&](size_t chunk, int rank) {
    const size_t begin = chunk * per_chunk, n = std::min(per_chunk, count - begin), each = divide_up(n, size_);
    const size_t from = std::min(n, each * rank), to = std::min(n, from + each);
    return Part{bytes + (begin + from) * element, to - from};
  };
  const auto write = [&](size_t chunk) {
    if (chunk == chunks) return;
    for (int q = 0; q < size_; ++q)
      if (q != rank_) std::memcpy(writable() + q * room, part(chunk, q).at, part(chunk, q).count * element);
  };
  // Ranks whose memory the others can see write no slot until they know whether all are such ranks.
  const Place place = place_of(data, count * element);
  int seen = 0;
  phase(
      call, true,
      [&] {
        if (!place.region) write(0);
      },
      [&] {
        for (int r = 0; r < size_; ++r) seen += segment_->block(r).records[phase_ & 1].region != 0;
      },
      place);
  if (seen == size_) return reduce_in_place(call, data, count, root);
  std::vector<const void*> in(size_);
  alignas(64) unsigned char hot[kHotElements * sizeof(Complex<double>)];
  const auto read = [&](size_t chunk) {
    if (chunk < chunks) {
      const Part own = part(chunk, rank_);
      unsigned char* result = writable() + size_ * room;  // which the next phase shows
      for (size_t from = 0; from < own.count; from += kHotElements) {
        const size_t n = std::min(kHotElements, own.count - from), at = from * element;
        for (int r = 0; r < size_; ++r) in[r] = r == rank_ ? own.at + at : readable(r) + rank_ * room + at;
        // The others have the slot's lines in their caches: memcpy takes these without reading them, the kernel's
        // stores do not (on Zen 5, where the cores share no cache, a sum of 1 MB took 1.7 times as long).
        unsigned char* const sum = keep ? own.at + at : hot;
        reduce_memory(call, sum, in.data(), size_, n);
        std::memcpy(result + at, sum, n * element);
      }
    }
    if (chunk == 0 || !keep) return;
    for (int q = 0; q < size_; ++q)
      if (q != rank_)
        std::memcpy(part(chunk - 1, q).at, readable(q) + size_ * room, part(chunk - 1, q).count * element);
  };
  if (seen == 0) read(0);
  for (size_t chunk = seen == 0 ? 1 : 0; chunk <= chunks; ++chunk)
    phase(
        call, false, [&] { write(chunk); }, [&] { read(chunk); });
}

/// Rank q reduces part q where it lies, and writes it to all. Called after the phase in which ranks said where that is.
void ShmEngine::reduce_in_place(const Call& call, void* data, size_t count, int root) {
  const size_t element = element_size(call.dtype), each = divide_up(divide_up(count, size_), 64) * 64;
  const size_t from = std::min(count, each * rank_), to = std::min(count, from + each);
  std::vector<unsigned char*> memory(size_);
  for (int r = 0; r < size_; ++r) {
    const Record& record = segment_->block(r).records[phase_ & 1];
    const Place place{record.process, record.file, record.region, record.offset};
    memory[r] = r == rank_ ? static_cast<unsigned char*>(data) : views_.at(place, count * element);
  }
  std::vector<const void*> in(size_);
  unsigned char* const result = memory[root >= 0 ? root : rank_];
  for (size_t first = from; first < to; first += kHotElements) {
    const size_t n = std::min(kHotElements, to - first), at = first * element;
    for (int r = 0; r < size_; ++r) in[r] = memory[r] + at;
    reduce_memory(call, result + at, in.data(), size_, n);
    for (int r = 0; root < 0 && r < size_; ++r)
      if (r != rank_) std::memcpy(memory[r] + at, result + at, n * element);
  }
  phase(
      call, false, [] {}, [] {});
}

void ShmEngine::allreduce(const Call& call, void* data, size_t count) {
  if (count * element_size(call.dtype) * std::max(size_ - 1, 1) <= kSmallBytes)
    exchange_small(call, data, count, true);
  else
    exchange_in_parts(call, data, count, -1);
}

void ShmEngine::reduce(const Call& call, void* data, size_t count) {
  if (count * element_size(call.dtype) * std::max(size_ - 1, 1) <= kSmallBytes)
    exchange_small(call, data, count, rank_ == call.root);
  else
    exchange_in_parts(call, data, count, call.root);
}

void ShmEngine::barrier(const Call& call) {
  phase(
      call, true, [] {}, [] {});
}

}  // namespace hb::distributed::shm
