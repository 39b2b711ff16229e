#pragma once
// Memory that the ranks of one host share. It has no name in any file system, so nothing is left behind however they
// end.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <halfbridge/distributed/store.h>

namespace hb::distributed::shm {

constexpr size_t kSlotBytes = size_t{1} << 20;
constexpr size_t kRingBytes = size_t{64} << 10;

/// The call that a rank has entered, as the others compare it.
struct Record {
  uint64_t number, bytes;
  int32_t root;
  int8_t dtype, reduction;
  uint8_t op;
  char text[228];
  // Where the tensor is (region.h).
  int32_t process, file;
  uint64_t region, offset, address;
};

/// A word that others wait for.
struct Word {
  std::atomic<uint32_t> value{0};
  std::atomic<uint32_t> sleepers{0};
};

/// What one rank tells the others.
struct RankBlock {
  alignas(64) Word posted;       // phases that this rank has written
  std::atomic<int32_t> core{0};  // on which it was then
  alignas(64) Word doorbell;     // rings when a message or room for one is there
  alignas(64) std::atomic<uint32_t> left{0};
  std::atomic<uint32_t> writing{0};  // this rank writes to another's memory
  int32_t process;                   // see PeerMemory::meet
  uint64_t probe, secret;
  alignas(64) Record records[2];  // of the phases of both parities
};

/// Messages from one rank to another: a ring of bytes.
struct Ring {
  alignas(64) std::atomic<uint64_t> written{0};
  alignas(64) std::atomic<uint64_t> read{0};
  alignas(64) unsigned char bytes[kRingBytes];
};

struct Header {
  char token[40];
  std::atomic<uint32_t> broken{0};  // 1 while `reason` is written, 2 when it can be read
  char reason[1000];
};

/// True if every rank says the same as this one.
bool all_say(Store& store, const std::string& what, int rank, int size, const std::string& own);

/// This process's view of the segment. A rank holds a lock on one byte of it, which the system releases when the rank
/// ends, however that happens.
class Segment {
 public:
  /// Meets the other ranks in `store`. Null on all ranks if they are not on one host or cannot share memory.
  static std::unique_ptr<Segment> meet(Store& store, int rank, int size);
  /// What each rank's host is, as ranks said in meet().
  static std::vector<std::string> hosts(Store& store, int size);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  Header& header() const { return *reinterpret_cast<Header*>(base_); }
  RankBlock& block(int rank) const { return reinterpret_cast<RankBlock*>(base_ + kPage)[rank]; }
  unsigned char* slot(int rank, uint32_t phase) const { return slots_ + (2 * size_t(rank) + (phase & 1)) * kSlotBytes; }
  Ring& ring(int from, int to) const { return rings_[size_t(from) * size_ + to]; }
  bool alive(int rank) const;

 private:
  static constexpr size_t kPage = 4096;
  Segment(int fd, int rank, int size, bool first, const std::string& token);
  static size_t bytes_for(int size);

  int fd_, size_;
  int lock_ = -1;  // opened by itself: the mapping, which a child of fork() has too, would hold the lock of fd_
  size_t bytes_;
  unsigned char* base_;
  unsigned char* slots_;
  Ring* rings_;
};

}  // namespace hb::distributed::shm
