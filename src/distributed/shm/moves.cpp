// Collectives that move values without changing them, and reduce_scatter.
#include <algorithm>
#include <cstring>

#include "distributed/shm/engine.h"
#include "distributed/shm/phase.h"

namespace hb::distributed::shm {

namespace {

/// fn(first, from, n) for pieces of at most `room` of `total` units, at least once.
template <class F>
void in_pieces(size_t total, size_t room, const F& fn) {
  size_t from = 0;
  do {
    const size_t n = std::min(room, total - from);
    fn(from == 0, from, n);
    from += n;
  } while (from < total);
}

unsigned char* at(void* p, size_t offset) { return static_cast<unsigned char*>(p) + offset; }
const unsigned char* at(const void* p, size_t offset) { return static_cast<const unsigned char*>(p) + offset; }

}  // namespace

void ShmEngine::broadcast(const Call& call, void* data, size_t bytes) {
  in_pieces(bytes, kSlotBytes, [&](bool first, size_t from, size_t n) {
    phase(
        call, first,
        [&] {
          if (rank_ == call.root) std::memcpy(writable(), at(data, from), n);
        },
        [&] {
          if (rank_ != call.root) std::memcpy(at(data, from), readable(call.root), n);
        });
  });
}

void ShmEngine::allgather(const Call& call, const void* in, void* const* outs, size_t bytes) {
  if (outs && outs[rank_] != in) std::memmove(outs[rank_], in, bytes);
  in_pieces(bytes, kSlotBytes, [&](bool first, size_t from, size_t n) {
    phase(
        call, first, [&] { std::memcpy(writable(), at(in, from), n); },
        [&] {
          for (int r = 0; outs && r < size_; ++r)
            if (r != rank_) std::memcpy(at(outs[r], from), readable(r), n);
        });
  });
}

void ShmEngine::gather(const Call& call, const void* in, void* const* outs, size_t bytes) {
  allgather(call, in, rank_ == call.root ? outs : nullptr, bytes);
}

void ShmEngine::scatter(const Call& call, const void* const* ins, void* out, size_t bytes) {
  const bool root = rank_ == call.root;
  const size_t room = kSlotBytes / size_ / 64 * 64;
  in_pieces(bytes, room, [&](bool first, size_t from, size_t n) {
    phase(
        call, first,
        [&] {
          for (int r = 0; root && r < size_; ++r) std::memcpy(writable() + r * room, at(ins[r], from), n);
        },
        [&] { std::memcpy(at(out, from), readable(call.root) + rank_ * room, n); });
  });
}

void ShmEngine::reduce_scatter(const Call& call, const void* const* ins, void* out, size_t count) {
  const size_t element = element_size(call.dtype), room = kSlotBytes / size_ / 64 * 64;
  std::vector<const void*> parts(size_);
  in_pieces(count, room / element, [&](bool first, size_t from, size_t n) {
    phase(
        call, first,
        [&] {
          for (int r = 0; r < size_; ++r)
            if (r != rank_) std::memcpy(writable() + r * room, at(ins[r], from * element), n * element);
        },
        [&] {
          for (int r = 0; r < size_; ++r)
            parts[r] = r == rank_ ? at(ins[r], from * element) : readable(r) + rank_ * room;
          reduce_memory(call, at(out, from * element), parts.data(), size_, n);
        });
  });
}

/// The first phase tells what each rank sends and expects, from which all see how many phases there are.
void ShmEngine::alltoall(const Call& call, const Piece* ins, const Piece* outs) {
  struct Sizes {
    uint64_t sends, expects;
  };
  static_assert(kSlotBytes / sizeof(Sizes) >= 1024);
  uint64_t longest = 0;
  std::string wrong;
  phase(
      call, true,
      [&] {
        for (int r = 0; r < size_; ++r) {
          const Sizes sizes{ins[r].bytes, outs[r].bytes};
          std::memcpy(writable() + r * sizeof(Sizes), &sizes, sizeof(sizes));
        }
      },
      [&] {
        const auto sizes = [&](int of, int with) {
          Sizes s;
          std::memcpy(&s, readable(of) + with * sizeof(Sizes), sizeof(s));
          return s;
        };
        for (int a = 0; a < size_; ++a)
          for (int b = 0; b < size_; ++b) {
            longest = std::max(longest, sizes(a, b).sends);
            if (wrong.empty() && sizes(a, b).sends != sizes(b, a).expects)
              wrong = detail::str("rank ", a, " sends ", sizes(a, b).sends, " bytes to rank ", b, ", which expects ",
                                  sizes(b, a).expects);
          }
      });
  if (!wrong.empty()) throw Mismatch(detail::str("[", call.text(), "] ", wrong));
  std::memmove(outs[rank_].data, ins[rank_].data, ins[rank_].bytes);
  const size_t room = kSlotBytes / size_ / 64 * 64;
  const auto piece = [&](size_t total, size_t from) { return from < total ? std::min(room, total - from) : size_t{0}; };
  in_pieces(longest, room, [&](bool, size_t from, size_t) {
    phase(
        call, false,
        [&] {
          for (int r = 0; r < size_; ++r)
            if (r != rank_) std::memcpy(writable() + r * room, at(ins[r].data, from), piece(ins[r].bytes, from));
        },
        [&] {
          for (int r = 0; r < size_; ++r)
            if (r != rank_) std::memcpy(at(outs[r].data, from), readable(r) + rank_ * room, piece(outs[r].bytes, from));
        });
  });
}

}  // namespace hb::distributed::shm
