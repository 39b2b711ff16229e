// allreduce and reduce. Small sums go through the slots whole and large ones in parts; those of memory that ranks can
// reach are made where it lies.
#include <algorithm>
#include <cstring>
#include <utility>

#include "distributed/shm/engine.h"
#include "distributed/shm/phase.h"

namespace hb::distributed::shm {

namespace {

constexpr size_t kSmallBytes = size_t{64} << 10;  // reduced by all ranks alike, in one phase
constexpr size_t kHotElements = 2048;             // of which the first cache keeps the result until it is copied

constexpr size_t kReachedBytes = size_t{4} << 20;  // from which on it is faster to reach other ranks' memory
constexpr size_t kPieceBytes = size_t{512} << 10, kLeastPieceBytes = size_t{64} << 10;  // of all ranks, of one

size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }

/// The elements that a rank reduces where they lie.
std::pair<size_t, size_t> share(size_t count, int rank, int size) {
  const size_t each = divide_up(divide_up(count, size), 64) * 64, from = std::min(count, each * rank);
  return {from, std::min(count, from + each)};
}

}  // namespace

/// A tensor cut so that a slot has room for a part of a chunk from each rank and for a result. All chunks but the last
/// have one size, in whole lines.
struct ShmEngine::Chunks {
  struct Part {
    unsigned char* at;
    size_t count;
  };
  Chunks(void* data, size_t elements, size_t element_bytes, int ranks)
      : bytes(static_cast<unsigned char*>(data)),
        count(elements),
        element(element_bytes),
        size(ranks),
        room(kSlotBytes / (ranks + 1) / 64 * 64) {
    const size_t most = room / element * size, lines = size_t{64} * size;
    each = std::min(most, divide_up(divide_up(count, divide_up(count, most)), lines) * lines);
    number = divide_up(count, each);
  }
  /// What a rank reduces of a chunk.
  Part part(size_t chunk, int rank) const {
    const size_t begin = chunk * each, n = std::min(each, count - begin), share = divide_up(n, size);
    const size_t from = std::min(n, share * rank), to = std::min(n, from + share);
    return {bytes + (begin + from) * element, to - from};
  }

  unsigned char* bytes;
  size_t count, element, size, room, each, number;
};

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

/// Ranks that write no slot in the first phase learn there where the tensors of all are.
void ShmEngine::exchange_in_parts(const Call& call, void* data, size_t count, int root) {
  const Chunks chunks(data, count, element_size(call.dtype), size_);
  const size_t bytes = count * element_size(call.dtype);
  const Place place = place_of(data, bytes);
  const bool reachable = peers_ && bytes >= kReachedBytes, written = !reachable && !place.region;
  int mapped = 0;
  phase(
      call, true,
      [&] {
        if (written) write_parts(chunks, 0);
      },
      [&] {
        for (int r = 0; r < size_; ++r) mapped += segment_->block(r).records[phase_ & 1].region != 0;
      },
      place);
  if (mapped == size_) return reduce_in_place(call, data, count, root);
  if (reachable) return reduce_among_peers(call, data, count, root);
  exchange_in_slots(call, chunks, root, mapped == 0);
}

void ShmEngine::write_parts(const Chunks& chunks, size_t chunk) {
  if (chunk == chunks.number) return;
  for (int q = 0; q < size_; ++q) {
    const Chunks::Part part = chunks.part(chunk, q);
    if (q != rank_) std::memcpy(writable() + q * chunks.room, part.at, part.count * chunks.element);
  }
}

/// Rank q reduces part q of each chunk, for all or for the root. A phase carries what others reduce of one chunk and
/// the result of the chunk before. `written`: all have written their parts of the first chunk.
void ShmEngine::exchange_in_slots(const Call& call, const Chunks& chunks, int root, bool written) {
  const bool keep = root < 0 || root == rank_;
  const size_t element = chunks.element, room = chunks.room;
  std::vector<const void*> in(size_);
  alignas(64) unsigned char hot[kHotElements * sizeof(Complex<double>)];
  const auto read = [&](size_t chunk) {
    if (chunk < chunks.number) {
      const Chunks::Part own = chunks.part(chunk, rank_);
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
    for (int q = 0; q < size_; ++q) {
      const Chunks::Part part = chunks.part(chunk - 1, q);
      if (q != rank_) std::memcpy(part.at, readable(q) + size_ * room, part.count * element);
    }
  };
  if (written) read(0);
  for (size_t chunk = written ? 1 : 0; chunk <= chunks.number; ++chunk)
    phase(
        call, false, [&] { write_parts(chunks, chunk); }, [&] { read(chunk); });
}

/// Rank q reduces part q where it lies, and writes it to all. Called after the phase in which ranks said where that is.
void ShmEngine::reduce_in_place(const Call& call, void* data, size_t count, int root) {
  const size_t element = element_size(call.dtype);
  const auto [from, to] = share(count, rank_, size_);
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

/// The same for memory that this rank reaches through the system: it fetches the others' parts piece by piece, while
/// the cache holds them, and sends the sums.
void ShmEngine::reduce_among_peers(const Call& call, void* data, size_t count, int root) {
  const size_t element = element_size(call.dtype), room = std::max(kPieceBytes / size_, kLeastPieceBytes);
  const auto [from, to] = share(count, rank_, size_);
  std::vector<uint64_t> memory(size_);
  for (int r = 0; r < size_; ++r) memory[r] = segment_->block(r).records[phase_ & 1].address;
  try {
    pieces_.resize(room * size_);
    std::vector<const void*> in(size_);
    for (size_t first = from; first < to; first += room / element) {
      const size_t n = std::min(room / element, to - first), at = first * element, bytes = n * element;
      for (int r = 0; r < size_; ++r) {
        unsigned char* const piece = pieces_.data() + r * room;
        if (r != rank_) read_peer(call, r, piece, memory[r] + at, bytes);
        in[r] = r == rank_ ? static_cast<unsigned char*>(data) + at : piece;
      }
      const bool keep = root < 0 || root == rank_;
      unsigned char* const sum = keep ? static_cast<unsigned char*>(data) + at : pieces_.data() + rank_ * room;
      reduce_memory(call, sum, in.data(), size_, n);
      for (int r = 0; r < size_; ++r)
        if (r != rank_ && (root < 0 || r == root)) write_peer(call, r, sum, memory[r] + at, bytes);
    }
    phase(
        call, false, [] {}, [] {});
  } catch (...) {
    break_group(*segment_, detail::str("[", call.text(), "] rank ", rank_, " failed within it"));
    await_writers();
    throw;
  }
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

}  // namespace hb::distributed::shm
