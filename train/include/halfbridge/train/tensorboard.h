#pragma once
// Event files for TensorBoard.

#include <cstdint>
#include <memory>
#include <string>

#include <halfbridge/train/callback.h>

namespace hb::train {

/// Writes scalars into a new file events.out.tfevents.* of a folder, which it makes. Every record is complete on disk
/// after flush() (and at the end), so that TensorBoard can follow a training that runs.
class HB_API SummaryWriter {
 public:
  explicit SummaryWriter(const std::string& log_dir);
  SummaryWriter(SummaryWriter&&) noexcept;
  SummaryWriter& operator=(SummaryWriter&&) noexcept;
  ~SummaryWriter();
  /// Throws hb::Error when the file cannot be written.
  void add_scalar(const std::string& tag, double value, int64_t global_step);
  void flush();
  const std::string& path() const;

 private:
  struct File;
  std::unique_ptr<File> file_;
};

/// Writes the loss at every `every`-th step, the learning rate and the loss scale with it, and the results of each
/// epoch.
class HB_API TensorBoard : public Callback {
 public:
  explicit TensorBoard(std::string log_dir, int64_t every = 1);
  void on_train_begin(RunContext& run) override;
  void on_train_step_end(RunContext& run) override;
  void on_train_epoch_end(RunContext& run) override;
  void on_train_end(RunContext& run) override;

 private:
  std::string log_dir_;
  int64_t every_;
  std::shared_ptr<SummaryWriter> writer_;
};

}  // namespace hb::train
