#include "distributed/message_engine.h"

#include <algorithm>
#include <cstring>

#include <halfbridge/distributed/debug.h>

#include "distributed/text.h"

namespace hb::distributed {

namespace {

constexpr size_t kSegmentBytes = size_t{8} << 20;  // exchanged at a time, so that what the others send stays small
constexpr size_t kSmallBytes = size_t{8} << 10;    // exchanged whole: one message to each rank instead of two

void* writable(const void* p) { return const_cast<void*>(p); }

}  // namespace

MessageEngine::~MessageEngine() = default;

std::unique_ptr<Transfer> MessageEngine::send(int peer, int tag, const void* data, size_t bytes, Owner owner) {
  return start(true, Channel::program, peer, static_cast<uint32_t>(tag), writable(data), bytes, std::move(owner));
}
std::unique_ptr<Transfer> MessageEngine::recv(int peer, int tag, void* data, size_t bytes, Owner owner) {
  return start(false, Channel::program, peer, static_cast<uint32_t>(tag), data, bytes, std::move(owner));
}

unsigned char* MessageEngine::scratch(size_t bytes) {
  if (bytes > scratch_bytes_) {
    scratch_ = nullptr;
    scratch_ = std::make_unique_for_overwrite<unsigned char[]>(bytes);
    scratch_bytes_ = bytes;
  }
  return scratch_.get();
}

void MessageEngine::post(Messages& list, const Call& call, bool sends, int peer, const void* data, size_t bytes) {
  begin(list, call, sends, Channel::collective, peer, static_cast<uint32_t>(call.number), writable(data), bytes);
}

/// Starts a message of a collective; an engine's error becomes one of ours.
void MessageEngine::begin(Messages& list, const Call& call, bool sends, Channel channel, int peer, uint32_t mark,
                          void* data, size_t bytes) {
  try {
    list.push_back({peer, start(sends, channel, peer, mark, data, bytes, nullptr)});
  } catch (const std::exception& e) {
    lost(call, peer, e.what());
  }
}

void MessageEngine::lost(const Call& call, int peer, const std::string& why) {
  throw DistBackendError(detail::str("[", call.text(), "] the connection to rank ", peer, " failed: ", why));
}

void MessageEngine::finish(Messages& list, const Call& call) {
  std::vector<int> missing;
  for (Message& message : list) {
    bool there = false;
    try {
      there = missing.empty() ? message.transfer->wait(call.deadline) : message.transfer->test();
    } catch (const std::exception& e) {
      lost(call, message.peer, e.what());
    }
    if (!there && std::find(missing.begin(), missing.end(), message.peer) == missing.end())
      missing.push_back(message.peer);
  }
  if (!missing.empty()) late(call, missing);
}

/// Each late rank tells the others what it called; those that tell nothing are missing.
void MessageEngine::late(const Call& call, std::vector<int> missing) {
  std::string text = detail::str("[", call.text(), "] timed out after ", call.timeout.count(), " ms: ");
  std::string others;
  const auto patience = std::clamp<std::chrono::milliseconds>(call.timeout / 4, std::chrono::milliseconds(200),
                                                              std::chrono::milliseconds(5000));
  const auto until = std::chrono::steady_clock::now() + patience;
  const auto key = [&](int rank) { return detail::str("late/", rank); };
  try {
    if (store_) store_->set(key(rank_), call.text());
    for (int r = 0; r < size_ && store_; ++r) {
      if (r == rank_) continue;
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      try {
        store_->wait({key(r)}, std::max(left, std::chrono::milliseconds(20)));
      } catch (const DistStoreError&) {
        continue;
      }
      missing.erase(std::remove(missing.begin(), missing.end(), r), missing.end());
      const std::string theirs = store_->get_to_str(key(r));
      if (theirs != call.text()) others += detail::str("; rank ", r, " waits in ", theirs);
    }
  } catch (const Error& e) {
    others += std::string("; the store cannot be asked: ") + e.what();
  }
  text += missing.empty() ? "all ranks wait"
                          : detail::str("rank", missing.size() > 1 ? "s " : " ", listed(missing),
                                        missing.size() > 1 ? " are" : " is", " missing");
  throw DistBackendError(text + others);
}

void MessageEngine::compare(const Call& call) {
  if (debug_level() != DebugLevel::Detail || size_ == 1) return;
  struct Record {
    uint64_t number, bytes;
    char text[240];
  };
  const auto fill = [&](Record& record) {
    record = {call.number, call.bytes, {}};
    call.signature().copy(record.text, sizeof(record.text) - 1);
  };
  std::vector<Record> records(size_);
  fill(records[rank_]);
  Messages list;
  for (int r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    begin(list, call, true, Channel::check, r, 0, &records[rank_], sizeof(Record));
    begin(list, call, false, Channel::check, r, 0, &records[r], sizeof(Record));
  }
  finish(list, call);
  std::string others;
  for (int r = 0; r < size_; ++r) {
    Record& record = records[r];
    record.text[sizeof(record.text) - 1] = '\0';
    if (std::memcmp(&record, &records[rank_], sizeof(Record)) == 0) continue;
    others += detail::str(others.empty() ? "" : "; ", "rank ", r, " called ", record.text);
    if (record.number != call.number) others += detail::str(" as its #", record.number);
  }
  if (!others.empty())
    throw Mismatch(detail::str("[", call.text(), "] expected the same call on all ranks, but ", others));
}

void MessageEngine::exchange(const Call& call, const std::vector<Piece>& sends, const std::vector<Piece>& receives) {
  Messages list;
  for (int i = 1; i < size_; ++i) {
    const int from = (rank_ + size_ - i) % size_;
    if (receives[from].data) post(list, call, false, from, receives[from].data, receives[from].bytes);
  }
  for (int i = 1; i < size_; ++i) {
    const int to = (rank_ + i) % size_;
    if (sends[to].data) post(list, call, true, to, sends[to].data, sends[to].bytes);
  }
  finish(list, call);
}

void MessageEngine::allgather(const Call& call, const void* in, void* const* outs, size_t bytes) {
  compare(call);
  if (outs[rank_] != in) std::memmove(outs[rank_], in, bytes);
  std::vector<Piece> receives;
  for (int r = 0; r < size_; ++r) receives.push_back({outs[r], bytes});
  exchange(call, std::vector<Piece>(size_, {writable(in), bytes}), receives);
}

/// Leaves the reduction of part `rank` in place; part r lies between bounds r and r + 1.
void MessageEngine::reduce_own_part(const Call& call, unsigned char* data, size_t count, std::vector<size_t>& bounds) {
  const size_t element = element_size(call.dtype), each = (count + size_ - 1) / size_;
  for (int r = 0; r <= size_; ++r) bounds.push_back(std::min(count, each * r));
  const size_t own = bounds[rank_ + 1] - bounds[rank_], own_bytes = own * element;
  unsigned char* memory = scratch(own_bytes * size_ + 1);
  std::vector<Piece> sends, receives;
  std::vector<const void*> parts;
  for (int r = 0; r < size_; ++r) {
    sends.push_back({data + bounds[r] * element, (bounds[r + 1] - bounds[r]) * element});
    receives.push_back({memory + own_bytes * r, own_bytes});
    parts.push_back(r == rank_ ? sends[r].data : receives[r].data);
  }
  exchange(call, sends, receives);
  reduce_memory(call, sends[rank_].data, parts.data(), size_, own);
}

void MessageEngine::allreduce(const Call& call, void* data, size_t count) {
  compare(call);
  const size_t element = element_size(call.dtype), bytes = count * element;
  auto* base = static_cast<unsigned char*>(data);
  if (bytes > kSmallBytes) {
    const size_t segment = kSegmentBytes / element;
    for (size_t from = 0; from < count; from += segment)
      allreduce_segment(call, base + from * element, std::min(segment, count - from));
    return;
  }
  unsigned char* memory = scratch(bytes * size_ + 1);
  std::vector<Piece> receives;
  std::vector<const void*> parts;
  for (int r = 0; r < size_; ++r) {
    receives.push_back({memory + bytes * r, bytes});
    parts.push_back(r == rank_ ? data : receives[r].data);
  }
  exchange(call, std::vector<Piece>(size_, {data, bytes}), receives);
  reduce_memory(call, data, parts.data(), size_, count);
}

void MessageEngine::allreduce_segment(const Call& call, unsigned char* data, size_t count) {
  const size_t element = element_size(call.dtype);
  std::vector<size_t> bounds;
  reduce_own_part(call, data, count, bounds);
  std::vector<Piece> receives;
  for (int r = 0; r < size_; ++r)
    receives.push_back({data + bounds[r] * element, (bounds[r + 1] - bounds[r]) * element});
  exchange(call, std::vector<Piece>(size_, receives[rank_]), receives);
}

void MessageEngine::reduce(const Call& call, void* data, size_t count) {
  compare(call);
  const size_t element = element_size(call.dtype), bytes = count * element;
  std::vector<unsigned char> copy(bytes + 1);  // another rank's tensor keeps its values
  const bool root = rank_ == call.root;
  unsigned char* base = root ? static_cast<unsigned char*>(data) : copy.data();
  if (!root) std::memcpy(base, data, bytes);
  std::vector<size_t> bounds;
  reduce_own_part(call, base, count, bounds);
  Messages list;
  const auto part = [&](int r) { return Piece{base + bounds[r] * element, (bounds[r + 1] - bounds[r]) * element}; };
  for (int r = 0; root && r < size_; ++r)
    if (r != rank_) post(list, call, false, r, part(r).data, part(r).bytes);
  if (!root) post(list, call, true, call.root, part(rank_).data, part(rank_).bytes);
  finish(list, call);
}

/// Along a binomial tree, ranks counted from the root.
void MessageEngine::broadcast(const Call& call, void* data, size_t bytes) {
  compare(call);
  const int place = (rank_ - call.root + size_) % size_;
  const auto rank_at = [&](int p) { return (p + call.root) % size_; };
  int bit = 1;
  while (bit < size_ && !(place & bit)) bit <<= 1;
  Messages list;
  if (place != 0) {
    post(list, call, false, rank_at(place - bit), data, bytes);
    finish(list, call);
    list.clear();
  }
  for (bit >>= 1; bit > 0; bit >>= 1)
    if (place + bit < size_) post(list, call, true, rank_at(place + bit), data, bytes);
  finish(list, call);
}

void MessageEngine::gather(const Call& call, const void* in, void* const* outs, size_t bytes) {
  compare(call);
  Messages list;
  if (rank_ == call.root) {
    std::memmove(outs[rank_], in, bytes);
    for (int r = 0; r < size_; ++r)
      if (r != rank_) post(list, call, false, r, outs[r], bytes);
  } else {
    post(list, call, true, call.root, in, bytes);
  }
  finish(list, call);
}

void MessageEngine::scatter(const Call& call, const void* const* ins, void* out, size_t bytes) {
  compare(call);
  Messages list;
  if (rank_ == call.root) {
    std::memmove(out, ins[rank_], bytes);
    for (int r = 0; r < size_; ++r)
      if (r != rank_) post(list, call, true, r, ins[r], bytes);
  } else {
    post(list, call, false, call.root, out, bytes);
  }
  finish(list, call);
}

void MessageEngine::reduce_scatter(const Call& call, const void* const* ins, void* out, size_t count) {
  compare(call);
  const size_t bytes = count * element_size(call.dtype);
  unsigned char* memory = scratch(bytes * size_ + 1);
  std::vector<Piece> sends, receives;
  std::vector<const void*> parts;
  for (int r = 0; r < size_; ++r) {
    sends.push_back({writable(ins[r]), bytes});
    receives.push_back({memory + bytes * r, bytes});
    parts.push_back(r == rank_ ? ins[r] : receives[r].data);
  }
  exchange(call, sends, receives);
  reduce_memory(call, out, parts.data(), size_, count);
}

/// Sizes go first, so that a rank that expects something else is an error on all.
void MessageEngine::alltoall(const Call& call, const Piece* ins, const Piece* outs) {
  compare(call);
  struct Sizes {
    uint64_t sends, expects;
  };
  std::vector<Sizes> own(size_), all(size_ * size_);
  std::vector<Piece> receives;
  for (int r = 0; r < size_; ++r) {
    own[r] = {ins[r].bytes, outs[r].bytes};
    receives.push_back({&all[size_t(r) * size_], size_ * sizeof(Sizes)});
  }
  std::copy(own.begin(), own.end(), all.begin() + size_t(rank_) * size_);
  exchange(call, std::vector<Piece>(size_, {own.data(), size_ * sizeof(Sizes)}), receives);
  for (int a = 0; a < size_; ++a)
    for (int b = 0; b < size_; ++b) {
      const uint64_t sent = all[size_t(a) * size_ + b].sends, expected = all[size_t(b) * size_ + a].expects;
      if (sent != expected)
        throw Mismatch(detail::str("[", call.text(), "] rank ", a, " sends ", sent, " bytes to rank ", b,
                                   ", which expects ", expected));
    }
  std::memmove(outs[rank_].data, ins[rank_].data, ins[rank_].bytes);
  std::vector<Piece> sends(ins, ins + size_);
  receives.assign(outs, outs + size_);
  for (auto* list : {&sends, &receives})
    for (Piece& piece : *list)
      if (piece.bytes == 0) piece.data = nullptr;  // nothing goes
  exchange(call, sends, receives);
}

void MessageEngine::barrier(const Call& call) {
  compare(call);
  std::vector<char> bytes(size_);
  std::vector<Piece> receives;
  for (char& byte : bytes) receives.push_back({&byte, 1});
  exchange(call, std::vector<Piece>(size_, receives[rank_]), receives);
}

}  // namespace hb::distributed
