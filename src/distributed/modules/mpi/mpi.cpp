// libhalfbridge_mpi.so and libhalfbridge_mpich.so: messages by MPI. One source, compiled for Open MPI and for MPICH.
// The C++ form of MPI, which is gone from its standard, is left out.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <climits>
#include <list>
#include <mutex>
#include <thread>

#include "distributed/message_engine.h"
#include "distributed/modules.h"

namespace hb::distributed {

namespace {

/// Calls of MPI are made one at a time where it does not take several threads.
struct Library {
  std::mutex mutex;
  bool several_threads = false, own = false;

  class Turn {
   public:
    explicit Turn(Library& library) : lock_(library.mutex, std::defer_lock) {
      if (!library.several_threads) lock_.lock();
    }

   private:
    std::unique_lock<std::mutex> lock_;
  };
};

Library& library() {
  static auto* const library = new Library;
  return *library;
}

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw DistBackendError(detail::str("[MPI] ", what, ": ", std::string(text, length)));
}

void finalize() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) MPI_Finalize();
}

void initialise() {
  static std::once_flag once;
  std::call_once(once, [] {
    int done = 0, provided = 0;
    check(MPI_Initialized(&done), "cannot ask whether it is initialised");
    if (done) {
      check(MPI_Query_thread(&provided), "cannot ask for its threads");
    } else {
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "cannot be initialised");
      std::atexit(finalize);
    }
    if (provided < MPI_THREAD_SERIALIZED)
      throw DistBackendError("[MPI] expected MPI_THREAD_SERIALIZED or more, got an MPI that takes one thread");
    library().several_threads = provided == MPI_THREAD_MULTIPLE;
  });
}

/// A message of any length: so many requests as its length in ints needs. MPI may write to the memory of a receive
/// until it is complete or cancelled, and read that of a send until it is complete.
struct Requests {
  std::vector<MPI_Request> list;
  Owner owner;
  bool sends = false;
  int source = -1;

  bool test() {
    const Library::Turn turn(library());
    while (!list.empty()) {
      int done = 0;
      MPI_Status status;
      check(MPI_Test(&list.back(), &done, &status), "a message failed");
      if (!done) return false;
      source = status.MPI_SOURCE;
      list.pop_back();
    }
    owner = nullptr;
    return true;
  }
};

/// Sends whose Work nobody keeps; their memory is kept until they are gone.
struct Orphans {
  std::mutex mutex;
  std::list<std::shared_ptr<Requests>> list;
  void add(std::shared_ptr<Requests> requests) {
    std::lock_guard<std::mutex> lock(mutex);
    list.remove_if([](const auto& r) {
      try {
        return r->test();
      } catch (const Error&) {
        return true;
      }
    });
    list.push_back(std::move(requests));
  }
};
Orphans& orphans() {
  static auto* const orphans = new Orphans;
  return *orphans;
}

class MpiTransfer : public Transfer {
 public:
  MpiTransfer(std::shared_ptr<Requests> requests, std::shared_ptr<std::string> aborted)
      : requests_(std::move(requests)), aborted_(std::move(aborted)) {}

  ~MpiTransfer() override {
    if (requests_->list.empty()) return;
    if (requests_->sends) {
      orphans().add(std::move(requests_));
      return;
    }
    const Library::Turn turn(library());
    for (MPI_Request& request : requests_->list) {
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }

  bool test() override { return requests_->test(); }

  bool wait(Deadline deadline) override {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    while (!requests_->test()) {
      const auto now = Clock::now();
      if (now >= deadline) return false;
      if (!aborted_->empty()) throw DistBackendError(*aborted_);
      if (now - begin > std::chrono::milliseconds(2))
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      else if (now - begin > std::chrono::microseconds(30))
        std::this_thread::yield();
    }
    return true;
  }
  int source() const override { return requests_->source; }

 private:
  std::shared_ptr<Requests> requests_;
  std::shared_ptr<std::string> aborted_;
};

class MpiEngine : public MessageEngine {
 public:
  /// Takes the communicator.
  MpiEngine(MPI_Comm group, int rank, int size) : MessageEngine(rank, size, nullptr) {
    channels_[0] = group;
    for (int i = 1; i < 3; ++i) check(MPI_Comm_dup(group, &channels_[i]), "cannot make a communicator");
    for (MPI_Comm channel : channels_) MPI_Comm_set_errhandler(channel, MPI_ERRORS_RETURN);
    int *largest = nullptr, found = 0;
    MPI_Comm_get_attr(group, MPI_TAG_UB, &largest, &found);
    if (found) largest_tag_ = static_cast<uint32_t>(*largest);
  }
  std::string name() const override { return "MPI"; }
  void abort(const std::string& why) override { *aborted_ = why; }
  MPI_Comm communicator() const { return channels_[0]; }

 protected:
  std::unique_ptr<Transfer> start(bool sends, Channel channel, int peer, uint32_t mark, void* data, size_t bytes,
                                  Owner owner) override {
    if (channel == Channel::collective) mark %= largest_tag_;
    if (mark == INT_MAX) mark = largest_tag_;
    HB_CHECK(mark <= largest_tag_, "[MPI] expected a tag from 0 to ", largest_tag_ - 1, ", got ", mark);
    auto requests = std::make_shared<Requests>();
    requests->owner = std::move(owner);
    requests->sends = sends;
    const MPI_Comm comm = channels_[static_cast<int>(channel)];
    const int tag = static_cast<int>(mark), rank = peer < 0 ? MPI_ANY_SOURCE : peer;
    const Library::Turn turn(library());
    size_t from = 0;
    do {
      const int n = static_cast<int>(std::min<size_t>(bytes - from, INT_MAX));
      unsigned char* at = static_cast<unsigned char*>(data) + from;
      MPI_Request request;
      check(sends ? MPI_Isend(at, n, MPI_BYTE, rank, tag, comm, &request)
                  : MPI_Irecv(at, n, MPI_BYTE, rank, tag, comm, &request),
            sends ? "cannot send" : "cannot receive");
      requests->list.push_back(request);
      from += static_cast<size_t>(n);
    } while (from < bytes);
    return std::make_unique<MpiTransfer>(std::move(requests), aborted_);
  }

 private:
  MPI_Comm channels_[3];
  uint32_t largest_tag_ = 32767;
  std::shared_ptr<std::string> aborted_ = std::make_shared<std::string>();
};

/// The communicator of some ranks of another, made by them alone.
std::shared_ptr<Engine> subgroup(MPI_Comm parent, const std::vector<int>& ranks, bool all_call) {
  MPI_Group all, some;
  check(MPI_Comm_group(parent, &all), "cannot ask for a group");
  check(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some), "cannot make a group");
  MPI_Comm comm = MPI_COMM_NULL;
  check(all_call ? MPI_Comm_create(parent, some, &comm) : MPI_Comm_create_group(parent, some, 0, &comm),
        "cannot make a communicator");
  MPI_Group_free(&all);
  MPI_Group_free(&some);
  if (comm == MPI_COMM_NULL) return nullptr;
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  return std::make_shared<MpiEngine>(comm, rank, size);
}

}  // namespace

}  // namespace hb::distributed

extern "C" {

HB_API std::shared_ptr<hb::distributed::Engine> hb_make_mpi_engine(const std::vector<int>& ranks) {
  using namespace hb::distributed;
  initialise();
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> list = ranks;
  for (int r = 0; ranks.empty() && r < size; ++r) list.push_back(r);
  for (int r : list)
    HB_CHECK(r >= 0 && r < size, "[createProcessGroupMPI] expected ranks from 0 to ", size - 1, ", got ", r);
  return subgroup(MPI_COMM_WORLD, list, true);
}

HB_API std::shared_ptr<hb::distributed::Engine> hb_split_mpi_engine(hb::distributed::Engine& parent,
                                                                    const std::vector<int>& ranks) {
  using namespace hb::distributed;
  return subgroup(static_cast<MpiEngine&>(parent).communicator(), ranks, false);
}
}
