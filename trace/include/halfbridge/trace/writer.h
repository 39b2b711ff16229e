#pragma once
// Writes a trace (docs/trace-format.md). C++17 and the standard library alone.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>

#include <halfbridge/trace/options.h>
#include <halfbridge/trace/record.h>
#include <halfbridge/trace/statistics.h>
#include <halfbridge/trace/stream.h>

namespace hb::trace {

class Writer;

namespace detail {

/// Closes traces when the process ends, by exit() or by an exception that nobody caught. Lives for ever.
class OpenWriters {
 public:
  static OpenWriters& instance() {
    static OpenWriters* all = new OpenWriters;
    return *all;
  }
  /// False where one writes into this folder.
  bool add(Writer* writer, const std::string& folder) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& open : open_)
      if (open.second == folder) return false;
    open_.emplace_back(writer, folder);
    return true;
  }
  void remove(Writer* writer) {
    std::lock_guard<std::mutex> lock(mutex_);
    open_.erase(std::remove_if(open_.begin(), open_.end(), [&](const auto& o) { return o.first == writer; }),
                open_.end());
  }
  void close_all(const std::string& end);

 private:
  OpenWriters() {
    previous_ = std::set_terminate([] { instance().terminate(); });
    std::atexit([] { instance().close_all("complete"); });
  }
  [[noreturn]] void terminate() {
    std::string end = "terminated";
    try {
      if (std::current_exception()) throw;
    } catch (const std::exception& e) {
      end = std::string("exception: ") + e.what();
    } catch (...) {
      end = "exception";
    }
    close_all(end);
    if (previous_) previous_();
    std::abort();
  }

  std::mutex mutex_;
  std::vector<std::pair<Writer*, std::string>> open_;
  std::terminate_handler previous_ = nullptr;
};

// What is in a file so far.
struct Contents {
  struct Entry {
    std::string tensor, metadata;  // members of the header and of __metadata__
    int64_t end = 0;               // of its bytes
  };
  int number = 0;
  std::string producer;
  std::vector<Entry> entries;

  /// The header for the entries whose bytes were written.
  Stream::Header header(int64_t written, const std::string& end) const {
    Stream::Header h;
    JsonObject metadata;
    metadata.text("halfbridge.trace", "1").text("producer", producer).text("file", std::to_string(number));
    if (!end.empty()) metadata.text("end", end);
    std::string json = metadata.done(), tensors;
    json.pop_back();
    for (const Entry& e : entries) {
      if (e.end > written) break;
      json += ',' + e.metadata;
      if (!e.tensor.empty()) tensors += ',' + e.tensor;
      h.bytes = e.end;
    }
    h.json = "{\"__metadata__\":" + json + '}' + tensors + '}';
    return h;
  }
};

}  // namespace detail

/// A trace that is being written. Thread safe. Bytes are copied once, into blocks that a thread of its own writes: a
/// call waits only while 64 MB are on their way.
///
/// An error of writing (a full disk) does not reach the program that is traced: it is printed once, what was written
/// stays readable, its `end` says what happened, and nothing more is recorded.
class Writer {
 public:
  /// Makes the folder and removes an earlier trace from it. Throws std::runtime_error where it cannot write there and
  /// where another Writer of this process does. `producer`: name and version, `libtorch 2.11.0`.
  Writer(const std::string& folder, const std::string& producer, Options options = Options::from_environment())
      : options_(std::move(options)), process_(getpid()), exceptions_(std::uncaught_exceptions()) {
    prepare(folder);
    contents_.producer = producer;
    const bool alone = detail::OpenWriters::instance().add(this, folder_);
    if (!alone) throw std::runtime_error("[trace] " + folder + ": this process writes a trace there already");
    stream_ = std::make_unique<detail::Stream>();
    open_file(detail::Stream::room_for(kFirstRoom));
    stream_->wait();
    const std::string error = stream_->error();
    if (error.empty()) return;
    detail::OpenWriters::instance().remove(this);
    throw std::runtime_error("[trace] cannot write " + error);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { close(std::uncaught_exceptions() > exceptions_ ? "left by an exception" : "complete"); }

  const Options& options() const { return options_; }
  const std::string& folder() const { return folder_; }
  /// Whether a record of this kind is wanted. Records are not looked at again when they are written. A function goes
  /// with the module that calls it, outside of all with the empty path.
  bool wants(Kind kind, int64_t step, const std::string& path) const {
    return !stopped() && options_.kinds.contains(kind) && options_.steps.contains(step) &&
           options_.layers.contains(path);
  }
  /// Nothing is recorded any more: closed, at the limit, or an error.
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  /// Adds a record. `data`: its bytes, contiguous; used during the call alone. With `options().stats` the statistics
  /// are written instead. The result is the tensor's name, empty where none was written.
  std::string write(const Record& record, const void* data) {
    if (stopped() || getpid() != process_) return {};
    if (!options_.stats) return add(record, data, nullptr, {});
    const Statistics stats = statistics_of(record.dtype, data, record.bytes() / size_of(record.dtype));
    return add(record, nullptr, &stats, {});
  }
  /// A record whose bytes are those of a tensor written before, by the name that write() gave.
  void write_same(const Record& record, const std::string& name) {
    if (!stopped() && getpid() == process_) add(record, nullptr, nullptr, name);
  }

  /// Makes what was recorded so far readable, at most once in two seconds: for a process that is killed. At the end of
  /// a step, say.
  void flush() {
    if (stopped() || getpid() != process_) return;
    std::lock_guard<std::mutex> lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (stopped() || now - flushed_ < std::chrono::seconds(2)) return;
    flushed_ = now;
    auto header = contents_.header(offset_, {});
    stream_->refresh([header = std::move(header)](int64_t, const std::string&) { return header; });
  }

  /// Completes the files. `end` says how the trace ended, unless it ended before.
  void close(const std::string& end = "complete") {
    if (getpid() != process_) {  // a fork's copy: the thread and the files are the parent's
      (void)stream_.release();
      return;
    }
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (closed_) return;
      closed_ = true;
      stop(end);
      finish_file(end_);
      stream_->close();
    }
    detail::OpenWriters::instance().remove(this);
  }

 private:
  static constexpr size_t kFirstRoom = size_t{128} << 10, kLargestRoom = size_t{4} << 20, kSpare = 4096;
  static constexpr int64_t kFileBytes = int64_t{1} << 30;

  void prepare(const std::string& folder) {
    namespace fs = std::filesystem;
    std::error_code error;
    fs::create_directories(folder, error);
    if (!fs::is_directory(folder))
      throw std::runtime_error("[trace] cannot make the folder " + folder + ": " + error.message());
    folder_ = fs::canonical(folder).string();
    std::vector<fs::path> old;
    for (const auto& entry : fs::directory_iterator(folder_))
      if (is_trace_file(entry.path().filename().string())) old.push_back(entry.path());
    for (const fs::path& file : old)
      if (!fs::remove(file, error) && error)
        throw std::runtime_error("[trace] cannot remove " + file.string() + ": " + error.message());
  }
  static bool is_trace_file(const std::string& name) {
    const std::string front = "trace-", back = ".safetensors";
    if (name.size() < front.size() + 5 + back.size() || name.compare(0, front.size(), front) != 0 ||
        name.compare(name.size() - back.size(), back.size(), back) != 0)
      return false;
    const std::string digits = name.substr(front.size(), name.size() - front.size() - back.size());
    return digits.find_first_not_of("0123456789") == std::string::npos;
  }

  std::string add(const Record& record, const void* data, const Statistics* stats, const std::string& same_as) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopped()) return {};
    const std::string name = detail::tensor_name(record, order_);
    detail::Contents::Entry entry;
    detail::append_quoted(entry.metadata, name);
    entry.metadata += ':';
    detail::append_quoted(entry.metadata, detail::to_json(record, order_, stats, same_as));
    const int64_t bytes = data ? record.bytes() : 0;
    if (!make_room(entry.metadata.size() + (data ? entry.metadata.size() : 0) + 128, bytes)) return {};
    entry.end = offset_ + bytes;
    if (data) entry.tensor = tensor_entry(name, record, offset_);
    used_ += entry.metadata.size() + entry.tensor.size() + 2;
    total_ += bytes;
    offset_ = entry.end;
    contents_.entries.push_back(std::move(entry));
    if (data) stream_->append(data, static_cast<size_t>(bytes));
    ++order_;
    if (bytes > 0 && !stream_->error().empty()) stop(stream_->error());
    return data ? name : std::string();
  }
  static std::string tensor_entry(const std::string& name, const Record& record, int64_t begin) {
    std::string json;
    detail::append_quoted(json, name);
    detail::JsonObject tensor;
    tensor.text("dtype", name_of(record.dtype)).list("shape", record.shape);
    tensor.list("data_offsets", {begin, begin + record.bytes()});
    return json + ':' + tensor.done();
  }
  // For an entry of so many characters and its bytes; false where the trace ends here.
  bool make_room(size_t characters, int64_t bytes) {
    const bool next = used_ + characters > room_ || (offset_ > 0 && offset_ + bytes > kFileBytes);
    const size_t room = detail::Stream::room_for(std::max(std::min(room_ * 2, kLargestRoom), characters + kSpare));
    if (bytes + (next ? static_cast<int64_t>(room) + 8 : 0) > options_.max_bytes - total_) {
      stop("limit of " + std::to_string(options_.max_bytes) + " bytes");
      std::fprintf(stderr, "[trace] stopped: %s (HALFBRIDGE_TRACE_MAX_BYTES)\n", end_.c_str());
      return false;
    }
    if (next) {
      finish_file({});
      open_file(room);
    }
    return true;
  }
  void open_file(size_t room) {
    char name[48];
    std::snprintf(name, sizeof name, "/trace-%05d.safetensors", contents_.number);
    room_ = room, used_ = kSpare, offset_ = 0;
    total_ += static_cast<int64_t>(room) + 8;
    auto header = contents_.header(0, {});
    stream_->open(folder_ + name, room, [header = std::move(header)](int64_t, const std::string&) { return header; });
  }
  void finish_file(const std::string& end) {
    detail::Contents next;
    next.number = contents_.number + 1, next.producer = contents_.producer;
    stream_->finish([contents = std::move(contents_), end](int64_t written, const std::string& error) {
      return contents.header(written, shortened(error.empty() ? end : error));
    });
    contents_ = std::move(next);
  }
  // It must fit into the spare part of the room, and a character may take six.
  static std::string shortened(const std::string& end) { return end.substr(0, 500); }
  void stop(const std::string& end) {
    if (stopped_.exchange(true)) return;
    end_ = end;
  }

  const Options options_;
  const pid_t process_;
  const int exceptions_;
  std::string folder_;
  std::mutex mutex_;
  std::unique_ptr<detail::Stream> stream_;
  detail::Contents contents_;
  size_t room_ = 0, used_ = 0;  // of the header, in characters
  int64_t offset_ = 0, total_ = 0, order_ = 0;
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
  std::atomic<bool> stopped_{false};
  bool closed_ = false;
  std::string end_;
};

inline void detail::OpenWriters::close_all(const std::string& end) {
  std::vector<Writer*> writers;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& open : open_) writers.push_back(open.first);
  }
  for (Writer* writer : writers) writer->close(end);
}

}  // namespace hb::trace
