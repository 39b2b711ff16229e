#pragma once
// Files written by a thread of their own, with a bounded amount of memory in between.

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <halfbridge/trace/output_file.h>

namespace hb::trace::detail {

/// Safetensors files one after another: room for a header, then bytes. Called from one thread at a time. After the
/// first error everything is taken and dropped, and `error()` says what it was.
class Stream {
 public:
  static constexpr size_t kBlock = size_t{4} << 20, kBlocks = 16;
  struct Header {
    std::string json;
    int64_t bytes = 0;  // behind the room, that it speaks of
  };
  /// Given how many bytes behind the room reached the file, and the error that stopped it, if any.
  using MakeHeader = std::function<Header(int64_t written, const std::string& error)>;

  /// Room for a header of so many characters: what follows it begins where it can go straight to the disk.
  static size_t room_for(size_t characters) {
    constexpr size_t alignment = OutputFile::kAlignment;
    return (characters + kLength + alignment - 1) / alignment * alignment - kLength;
  }

  Stream() : thread_([this] { run(); }) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { close(); }

  /// `room` is what room_for() gave; `header` fits into it.
  void open(std::string path, size_t room, MakeHeader make) {
    position_ = 0;
    push({Op::open, std::move(path), room, std::move(make)});
  }
  /// Blocks while the thread is `kBlocks` blocks behind.
  void append(const void* data, size_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      // After a refresh() the next block is shorter, and those behind it lie where they did.
      if (!block_) block_ = take_block(), used_ = 0, size_ = kBlock - position_ % kBlock;
      const size_t n = bytes < size_ - used_ ? bytes : size_ - used_;
      std::memcpy(block_.get() + used_, from, n);
      used_ += n, position_ += n, from += n, bytes -= n;
      if (used_ == size_) push_block();
    }
  }
  /// Brings the header up to date with what was appended so far.
  void refresh(MakeHeader make) {
    push_block();
    push({Op::refresh, {}, 0, std::move(make)});
  }
  void finish(MakeHeader make) {
    push_block();
    push({Op::finish, {}, 0, std::move(make)});
  }
  /// Waits until everything is written.
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return ops_.empty() && !busy_; });
  }
  void close() {
    if (!thread_.joinable()) return;
    push({Op::stop, {}, 0, {}});
    thread_.join();
    free_.clear();
  }
  std::string error() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return error_;
  }

 private:
  static constexpr size_t kLength = 8;  // the header's length stands in front of it
  struct Unmap {
    void operator()(char* p) const { ::munmap(p, kBlock); }
  };
  using Block = std::unique_ptr<char, Unmap>;
  struct Op {
    enum What { open, append, refresh, finish, stop } what;
    std::string path;
    size_t size = 0;
    MakeHeader make;
    Block block = nullptr;
  };

  void push(Op op) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ops_.push_back(std::move(op));
    }
    changed_.notify_all();
  }
  void push_block() {
    if (!block_) return;
    push({Op::append, {}, used_, {}, std::move(block_)});
    block_ = nullptr;
  }
  Block take_block() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (free_.empty() && made_ < kBlocks) {
      // Mapped, not from the heap: at the end it is given back whole.
      void* memory = ::mmap(nullptr, kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) throw std::bad_alloc();
      ++made_;
      return Block(static_cast<char*>(memory));
    }
    changed_.wait(lock, [&] { return !free_.empty(); });
    Block block = std::move(free_.back());
    free_.pop_back();
    return block;
  }

  void run() {
    for (;;) {
      Op op = next();
      if (op.what == Op::stop) break;
      try {
        execute(op);
      } catch (const std::exception& e) {
        fail(e.what());
      }
      std::lock_guard<std::mutex> lock(mutex_);
      if (op.block) free_.push_back(std::move(op.block));
      busy_ = false;
      changed_.notify_all();
    }
    close_file();
  }
  Op next() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return !ops_.empty(); });
    Op op = std::move(ops_.front());
    ops_.pop_front();
    busy_ = true;
    return op;
  }
  void execute(Op& op) {
    // The file that an error hit still gets a header of what it holds; later ones are not begun.
    if (failed_ && (op.what != Op::finish || !file_.is_open())) return;
    switch (op.what) {
      case Op::open:
        return begin(op);
      case Op::append:
        written_ +=
            static_cast<int64_t>(write(op.block.get(), op.size, static_cast<int64_t>(kLength + room_) + written_));
        return;
      case Op::refresh:
        return fill_in(op.make(written_, {}));
      case Op::finish:
        fill_in(op.make(written_, error()));
        finished_ = {path_, room_, written_, std::move(op.make)};
        return close_file();
      case Op::stop:
        return;
    }
  }
  void begin(const Op& op) {
    path_ = op.path, room_ = op.size, written_ = 0;
    if (check(file_.open(path_))) fill_in(op.make(0, {}));
    if (failed_) give_up_file();
    finished_ = {};
  }
  // A file without a whole header is none: it goes, and the file before it says why the trace ends.
  void give_up_file() {
    if (!file_.is_open()) return;
    file_.close();
    ::unlink(path_.c_str());
    if (!finished_.make) return;
    const std::string text = in_room(finished_.make(finished_.written, error()), finished_.room);
    const int fd = ::open(finished_.path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    size_t done = 0;
    while (done < text.size()) {
      const ssize_t n = ::pwrite(fd, text.data() + done, text.size() - done, static_cast<off_t>(done));
      if (n <= 0 && errno != EINTR) break;
      if (n > 0) done += static_cast<size_t>(n);
    }
    ::close(fd);
  }
  // The room is written, not skipped: on a full disk it is there.
  void fill_in(Header header) {
    if (header.json.size() > room_) return fail(path_ + ": the header outgrew its room");
    covered_ = header.bytes;
    const std::string text = in_room(std::move(header), room_);
    write(text.data(), text.size(), 0);
  }
  static std::string in_room(Header header, size_t room) {
    header.json.resize(room, ' ');
    unsigned char length[kLength];
    for (size_t i = 0; i < kLength; ++i) length[i] = static_cast<unsigned char>(uint64_t{room} >> (8 * i));
    header.json.insert(0, reinterpret_cast<const char*>(length), kLength);
    return std::move(header.json);
  }
  size_t write(const void* data, size_t bytes, int64_t offset) {
    size_t done = 0;
    check(file_.write(data, bytes, offset, &done));
    return done;
  }
  void close_file() {
    if (!file_.is_open()) return;
    // Readers refuse a file that is longer than its header says.
    if (failed_) file_.truncate(static_cast<int64_t>(kLength + room_) + covered_);
    check(file_.close());
  }
  bool check(int error) {
    if (error != 0) fail(path_ + ": " + std::strerror(error));
    return error == 0;
  }
  void fail(const std::string& message) {
    if (failed_) return;
    failed_ = true;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      error_ = message;
    }
    std::fprintf(stderr, "[trace] stopped: %s\n", message.c_str());
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Op> ops_;
  std::vector<Block> free_;
  size_t made_ = 0;
  bool busy_ = false;
  std::string error_;
  // The caller's.
  Block block_;
  size_t used_ = 0, size_ = 0, position_ = 0;
  // The thread's.
  OutputFile file_;
  std::string path_;
  size_t room_ = 0;
  int64_t written_ = 0, covered_ = 0;
  struct {
    std::string path;
    size_t room = 0;
    int64_t written = 0;
    MakeHeader make;
  } finished_;  // the file before
  bool failed_ = false;
  std::thread thread_;
};

}  // namespace hb::trace::detail
