#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>

#include <halfbridge/bridge/arg.h>
#include <halfbridge/macros.h>

namespace hb::bridge::data {

/// How a data loader works.
struct DataLoaderOptions {
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) : batch_size_(batch_size) {}  // NOLINT: implicit as in LibTorch

  HB_ARG(size_t, batch_size) = 1;
  /// Threads that fetch batches; with none the calling thread does.
  HB_ARG(size_t, workers) = 0;
  /// Batches that may be under way at a time; twice the number of workers by default.
  HB_ARG(std::optional<size_t>, max_jobs);
  /// How long to wait for a batch of a worker.
  HB_ARG(std::optional<std::chrono::milliseconds>, timeout);
  /// Whether batches come in the order of their requests when several workers fetch them.
  HB_ARG(bool, enforce_ordering) = true;
  /// Whether to leave out a last batch that is smaller than the others.
  HB_ARG(bool, drop_last) = false;
};

/// The options with defaults filled in.
struct FullDataLoaderOptions {
  explicit FullDataLoaderOptions(DataLoaderOptions options)
      : batch_size(options.batch_size()),
        workers(options.workers()),
        max_jobs(options.max_jobs().value_or(2 * workers)),
        timeout(options.timeout()),
        enforce_ordering(options.enforce_ordering()),
        drop_last(options.drop_last()) {}

  size_t batch_size;
  size_t workers;
  size_t max_jobs;
  std::optional<std::chrono::milliseconds> timeout;
  bool enforce_ordering;
  bool drop_last;
};

/// What a data loader throws when one of its workers threw.
struct HB_API WorkerException : public std::exception {
  explicit WorkerException(std::exception_ptr original);
  ~WorkerException() override;
  const char* what() const noexcept override { return message.c_str(); }

  std::exception_ptr original_exception;
  std::string message;
};

}  // namespace hb::bridge::data
