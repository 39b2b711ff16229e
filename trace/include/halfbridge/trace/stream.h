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
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

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

  Stream() : thread_([this] { run(); }) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { close(); }

  /// `room` is a multiple of 8; `header` fits into it.
  void open(std::string path, size_t room, MakeHeader make) {
    push({Op::open, std::move(path), room, std::move(make)});
  }
  /// Blocks while the thread is `kBlocks` blocks behind.
  void append(const void* data, size_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      if (!block_) block_ = take_block(), used_ = 0;
      const size_t n = bytes < kBlock - used_ ? bytes : kBlock - used_;
      std::memcpy(block_.get() + used_, from, n);
      used_ += n, from += n, bytes -= n;
      if (used_ == kBlock) push_block();
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
  using Block = std::unique_ptr<char[]>;
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
      ++made_;
      return Block(new char[kBlock]);
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
  void execute(const Op& op) {
    // The file that an error hit still gets a header of what it holds; later ones are not begun.
    if (failed_ && (op.what != Op::finish || !file_)) return;
    switch (op.what) {
      case Op::open:
        return begin(op);
      case Op::append:
        written_ += static_cast<int64_t>(write(op.block.get(), op.size));
        return;
      case Op::refresh:
        return fill_in(op.make(written_, {}));
      case Op::finish:
        fill_in(op.make(written_, error()));
        return close_file();
      case Op::stop:
        return;
    }
  }
  void begin(const Op& op) {
    file_ = std::fopen(op.path.c_str(), "wb");
    if (!file_) return fail(op.path + ": " + std::strerror(errno));
    path_ = op.path, room_ = op.size, written_ = 0;
    std::setvbuf(file_, nullptr, _IONBF, 0);  // blocks are large
    fill_in(op.make(0, {}));
  }
  // The room is written, not skipped: on a full disk it is there.
  void fill_in(Header header) {
    if (header.json.size() > room_) return fail(path_ + ": the header outgrew its room");
    covered_ = header.bytes;
    header.json.resize(room_, ' ');
    unsigned char length[8];
    for (int i = 0; i < 8; ++i) length[i] = static_cast<unsigned char>(uint64_t{room_} >> (8 * i));
    if (std::fseek(file_, 0, SEEK_SET) == 0 && write(length, sizeof length) == sizeof length)
      write(header.json.data(), header.json.size());
    std::fseek(file_, 0, SEEK_END);
  }
  size_t write(const void* data, size_t bytes) {
    const size_t done = std::fwrite(data, 1, bytes, file_);
    if (done != bytes) fail(path_ + ": " + std::strerror(errno));
    return done;
  }
  void close_file() {
    if (!file_) return;
    // Readers refuse a file that is longer than its header says.
    if (failed_ && ftruncate(fileno(file_), static_cast<off_t>(8 + room_) + covered_) != 0) covered_ = 0;
    if (std::fclose(file_) != 0) fail(path_ + ": " + std::strerror(errno));
    file_ = nullptr;
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
  size_t used_ = 0;
  // The thread's.
  std::FILE* file_ = nullptr;
  std::string path_;
  size_t room_ = 0;
  int64_t written_ = 0, covered_ = 0;
  bool failed_ = false;
  std::thread thread_;
};

}  // namespace hb::trace::detail
