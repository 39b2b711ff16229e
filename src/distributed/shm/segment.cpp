#include "distributed/shm/segment.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <new>
#include <set>
#include <utility>

#include "distributed/text.h"

namespace hb::distributed::shm {

namespace {

/// Processes with the same answer see each other's /proc entries. HALFBRIDGE_HOST_NAME tells apart what shares a host.
std::string host_id() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  char space[64] = {};
  if (readlink("/proc/self/ns/pid", space, sizeof(space) - 1) < 0) return "";
  const char* name = std::getenv("HALFBRIDGE_HOST_NAME");
  return boot + " " + space + detail::str(" ", geteuid(), " ", name ? name : "");
}

std::string random_token() {
  unsigned char bytes[16];
  HB_CHECK(getrandom(bytes, sizeof(bytes), 0) == sizeof(bytes), "[shared memory] no random bytes: ", strerror(errno));
  std::string text;
  for (unsigned char b : bytes) text += "0123456789abcdef"[b >> 4], text += "0123456789abcdef"[b & 15];
  return text;
}

std::string key(const std::string& what, int rank) { return detail::str(what, "/", rank); }

/// The path of "PROCESS/fd/NUMBER"; empty for any other text, which would name other files.
std::string descriptor(const std::string& text) {
  int process = 0, file = 0, length = 0;
  const bool read = std::sscanf(text.c_str(), "%9d/fd/%9d%n", &process, &file, &length) == 2;
  if (!read || process <= 0 || file < 0 || static_cast<size_t>(length) != text.size()) return "";
  return detail::str("/proc/", process, "/fd/", file);
}

struct flock lock_of(int rank) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = rank;
  lock.l_len = 1;
  return lock;
}

/// A child of fork() shares the locks of its parent, which the others would then take for alive as long as the child
/// is.
struct OpenFiles {
  std::mutex mutex;
  std::set<int*> files;

  OpenFiles() {
    static OpenFiles* const self = this;
    pthread_atfork([] { self->mutex.lock(); }, [] { self->mutex.unlock(); },
                   [] {
                     for (int* file : self->files) close(std::exchange(*file, -1));
                     self->files.clear();
                     self->mutex.unlock();
                   });
  }
};
OpenFiles& open_files() {
  static auto& object = *new OpenFiles;
  return object;
}

}  // namespace

bool all_say(Store& store, const std::string& what, int rank, int size, const std::string& own) {
  store.set(key(what, rank), own);
  bool same = true;
  for (int r = 0; r < size; ++r) same &= store.get_to_str(key(what, r)) == own;
  return same;
}

size_t Segment::bytes_for(int size) {
  const size_t n = static_cast<size_t>(size);
  const size_t blocks = (kPage + n * sizeof(RankBlock) + kPage - 1) / kPage * kPage;
  return blocks + 2 * n * kSlotBytes + n * n * sizeof(Ring);
}

Segment::Segment(int fd, int rank, int size, bool first, const std::string& token)
    : fd_(fd), size_(size), bytes_(bytes_for(size)) {
  const auto fail = [&](const char* what) {
    const int error = errno;
    close(fd_);
    throw DistBackendError(detail::str("[shared memory] ", what, " ", bytes_, " bytes: ", strerror(error)));
  };
  if (first && ftruncate(fd_, static_cast<off_t>(bytes_)) != 0) fail("cannot make");
  if (lseek(fd_, 0, SEEK_END) != static_cast<off_t>(bytes_)) fail("unexpected size, expected");
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (memory == MAP_FAILED) fail("cannot map");
  base_ = static_cast<unsigned char*>(memory);
  rings_ = reinterpret_cast<Ring*>(base_ + bytes_ - size_t(size) * size * sizeof(Ring));
  slots_ = reinterpret_cast<unsigned char*>(rings_) - 2 * size_t(size) * kSlotBytes;
  // What is all zeros is a valid state of every structure in it.
  if (first) std::memcpy(header().token, token.c_str(), token.size() + 1);
  struct flock lock = lock_of(rank);
  lock_ = open(detail::str("/proc/self/fd/", fd_).c_str(), O_RDWR | O_CLOEXEC);
  if (std::strncmp(header().token, token.c_str(), sizeof(Header::token)) != 0 || lock_ < 0 ||
      fcntl(lock_, F_OFD_SETLK, &lock) != 0) {
    munmap(base_, bytes_);
    if (lock_ >= 0) close(lock_);
    fail("cannot join");
  }
  const std::lock_guard<std::mutex> guard(open_files().mutex);
  open_files().files.insert(&lock_);
}

Segment::~Segment() {
  munmap(base_, bytes_);
  const std::lock_guard<std::mutex> guard(open_files().mutex);
  open_files().files.erase(&lock_);
  if (lock_ >= 0) close(lock_);
  close(fd_);
}

bool Segment::alive(int rank) const {
  struct flock lock = lock_of(rank);
  return fcntl(lock_, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

std::vector<std::string> Segment::hosts(Store& store, int size) {
  std::vector<std::string> all;
  for (int r = 0; r < size; ++r) all.push_back(store.get_to_str(key("shm/host", r)));
  return all;
}

std::unique_ptr<Segment> Segment::meet(Store& store, int rank, int size) {
  const std::string host = host_id();
  if (!all_say(store, "shm/host", rank, size, host) || host.empty()) return nullptr;
  std::unique_ptr<Segment> segment;
  if (rank == 0) {
    const std::string token = random_token();
    const int fd = memfd_create("halfbridge", MFD_CLOEXEC);
    try {
      if (fd >= 0) segment.reset(new Segment(fd, rank, size, true, token));
    } catch (const DistBackendError&) {  // the others are told
    }
    store.set("shm/segment", segment ? detail::str(getpid(), "/fd/", fd, " ", token) : "none");
  } else {
    const std::string where = store.get_to_str("shm/segment");
    const size_t space = where.find(' ');
    const std::string path = descriptor(where.substr(0, space));
    const int fd = space == std::string::npos || path.empty() ? -1 : open(path.c_str(), O_RDWR | O_CLOEXEC);
    try {
      if (fd >= 0) segment.reset(new Segment(fd, rank, size, false, where.substr(space + 1)));
    } catch (const DistBackendError&) {
    }
  }
  if (!all_say(store, "shm/mapped", rank, size, segment ? "yes" : "no") || !segment) return nullptr;
  return segment;
}

}  // namespace hb::distributed::shm
