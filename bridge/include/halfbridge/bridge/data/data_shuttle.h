#pragma once
// The parts of which programs build loaders of their own: torch::data::detail::Queue, DataShuttle and sequencers.

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <halfbridge/bridge/data/queue.h>

namespace hb::bridge::data::detail {

/// Jobs on their way to workers and results on their way back. One thread pushes jobs and pops results; the workers
/// pop jobs and push results.
template <class Job, class Result>
class DataShuttle {
 public:
  void push_job(Job job) {
    jobs_.push(std::move(job));
    ++in_flight_;
  }
  Job pop_job() { return jobs_.pop(); }
  void push_result(Result result) { results_.push(std::move(result)); }
  /// Waits for a result; nothing where no job is under way. Throws after `timeout`.
  std::optional<Result> pop_result(std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    if (in_flight_ == 0) return std::nullopt;
    std::optional<Result> result = results_.pop(timeout);
    --in_flight_;
    return result;
  }
  /// Drops the jobs that nobody took, waits for the results of the others and drops them.
  void drain() {
    in_flight_ -= jobs_.clear();
    while (in_flight_ > 0) pop_result();
  }
  size_t in_flight_jobs() const noexcept { return in_flight_; }

 private:
  Queue<Job> jobs_;
  Queue<Result> results_;
  size_t in_flight_ = 0;
};

namespace sequencers {

/// In which order results are handed out. `next` calls the producer until it has what it looks for; a producer that
/// gives nothing ends the epoch.
template <class Result>
struct Sequencer {
  using ResultProducer = std::function<std::optional<Result>()>;
  virtual ~Sequencer() = default;
  virtual std::optional<Result> next(ResultProducer produce) = 0;
};

/// As they come.
template <class Result>
struct NoSequencer final : Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;
  std::optional<Result> next(ResultProducer produce) override { return produce(); }
};

/// Orders results by their `sequence_number`, from 0 on; at most `max_jobs` may be under way.
template <class Result>
struct OrderedSequencer : Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;
  explicit OrderedSequencer(size_t max_jobs) : buffer_(max_jobs) {}

  std::optional<Result> next(ResultProducer produce) override {
    while (!buffer(next_sequence_number_)) {
      std::optional<Result> result = produce();
      if (!result) {
        HB_CHECK(std::none_of(buffer_.begin(), buffer_.end(), [](const auto& kept) { return kept.has_value(); }),
                 "[OrderedSequencer] expected result ", next_sequence_number_, " before the end of the epoch");
        return std::nullopt;
      }
      std::optional<Result>& place = buffer(result->sequence_number);
      HB_CHECK(!place, "[OrderedSequencer] expected at most ", buffer_.size(), " jobs under way");
      place = std::move(result);
    }
    return std::exchange(buffer(next_sequence_number_++), std::nullopt);
  }
  std::optional<Result>& buffer(size_t number) { return buffer_.at(number % buffer_.size()); }

  size_t next_sequence_number_ = 0;
  std::vector<std::optional<Result>> buffer_;
};

}  // namespace sequencers
}  // namespace hb::bridge::data::detail
