#include <halfbridge/bridge/data/worker_queue.h>

#include <map>
#include <thread>
#include <utility>
#include <vector>

#include <halfbridge/bridge/data/batch_loader.h>
#include <halfbridge/bridge/data/queue.h>

namespace hb::bridge::data {

template class Iterator<Example<>>;
template class Iterator<std::vector<Example<>>>;

namespace detail {
void empty_request(size_t batch_size) {
  hb::detail::fail<hb::Error>("[DataLoader] expected a batch of at least one example, got batch_size ", batch_size,
                              " and an empty request from the sampler");
}
template class BatchLoader<Example<>, std::vector<size_t>>;
template class BatchLoader<std::vector<Example<>>, std::vector<size_t>>;
}  // namespace detail

namespace detail {

Job::~Job() = default;
Fetcher::~Fetcher() = default;

struct WorkerQueue::State {
  explicit State(bool in_order) : ordered(in_order) {}

  // A worker's whole life. A null job ends it.
  void work(Fetcher& fetcher) {
    while (hb::detail::Owned<Job> job = jobs.pop()) {
      try {
        fetcher.fetch(*job);
      } catch (...) {
        job->error = std::current_exception();
      }
      results.push(std::move(job));
    }
  }

  const bool ordered;
  size_t next_job = 0, next_result = 0, in_flight = 0;
  Queue<hb::detail::Owned<Job>> jobs;
  Queue<hb::detail::Owned<Job>> results;
  std::map<size_t, hb::detail::Owned<Job>> early;
  std::vector<std::thread> workers;
  bool joined = false;
};

WorkerQueue::WorkerQueue(bool ordered) : state_(new State(ordered)) {}
WorkerQueue::~WorkerQueue() { join(); }

void WorkerQueue::start(std::unique_ptr<Fetcher> fetcher) {
  state_->workers.emplace_back([state = state_.get(), own = std::move(fetcher)] { state->work(*own); });
}

void WorkerQueue::push(hb::detail::Owned<Job> job) {
  HB_CHECK(!state_->joined, "[DataLoader] begin() needs the workers, and join() has ended them: make another loader");
  job->number = state_->next_job++;
  state_->jobs.push(std::move(job));
  ++state_->in_flight;
}

size_t WorkerQueue::in_flight() const { return state_->in_flight; }

hb::detail::Owned<Job> WorkerQueue::pop(std::optional<std::chrono::milliseconds> timeout) {
  while (true) {
    if (auto early = state_->early.find(state_->next_result); early != state_->early.end()) {
      hb::detail::Owned<Job> result = std::move(early->second);
      state_->early.erase(early);
      ++state_->next_result;
      return result;
    }
    if (state_->in_flight == 0) return nullptr;
    hb::detail::Owned<Job> result = state_->results.pop(timeout);
    --state_->in_flight;
    if (!state_->ordered) return result;
    const size_t number = result->number;
    state_->early.emplace(number, std::move(result));
  }
}

void WorkerQueue::drain() {
  state_->in_flight -= state_->jobs.clear();
  for (; state_->in_flight > 0; --state_->in_flight) state_->results.pop();
  state_->early.clear();
  state_->next_job = state_->next_result = 0;
}

void WorkerQueue::join() {
  drain();
  for (size_t i = 0; i < state_->workers.size(); ++i) state_->jobs.push(nullptr);
  for (auto& worker : state_->workers) worker.join();
  state_->workers.clear();
  state_->joined = true;
}

}  // namespace detail
}  // namespace hb::bridge::data
