#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <tuple>

#include <halfbridge/train/callbacks.h>
#include <halfbridge/train/model.h>

namespace hb::train {

namespace fs = std::filesystem;

ModelCheckpoint::ModelCheckpoint(std::string prefix, std::string directory, CheckpointConfig config)
    : prefix_(std::move(prefix)), directory_(std::move(directory)), config_(config) {
  HB_CHECK(!prefix_.empty() && prefix_.find('/') == std::string::npos,
           "[ModelCheckpoint] expected a prefix that is part of a file name, got '", prefix_, "'");
  HB_CHECK(
      config.save_checkpoint_steps() >= 0 && config.save_checkpoint_epochs() >= 1 && config.keep_checkpoint_max() >= 0,
      "[ModelCheckpoint] expected steps of 0 or more, epochs of 1 or more and files of 0 or more, got ",
      config.save_checkpoint_steps(), ", ", config.save_checkpoint_epochs(), ", ", config.keep_checkpoint_max());
}

std::vector<std::string> ModelCheckpoint::find(const std::string& prefix, const std::string& directory) {
  std::vector<std::tuple<int64_t, int64_t, std::string>> found;
  if (!fs::is_directory(directory)) return {};
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.compare(0, prefix.size() + 1, prefix + "-") != 0) continue;
    long long epoch = 0, step = 0;
    int end = 0;
    const std::string rest = name.substr(prefix.size() + 1);
    if (std::sscanf(rest.c_str(), "%lld_%lld.ckpt%n", &epoch, &step, &end) != 2 || end != static_cast<int>(rest.size()))
      continue;
    found.emplace_back(epoch, step, entry.path().string());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  for (const auto& f : found) paths.push_back(std::get<2>(f));
  return paths;
}

std::string ModelCheckpoint::latest(const std::string& prefix, const std::string& directory) {
  const auto all = find(prefix, directory);
  return all.empty() ? "" : all.back();
}

void ModelCheckpoint::on_train_begin(RunContext&) {
  std::error_code error;
  fs::create_directories(directory_, error);
  HB_CHECK(!error, "[ModelCheckpoint] cannot make the folder ", directory_, ": ", error.message());
}

void ModelCheckpoint::on_train_step_end(RunContext& run) {
  if (config_.save_checkpoint_steps() > 0 && run.global_step % config_.save_checkpoint_steps() == 0) save(run);
}
void ModelCheckpoint::on_train_epoch_end(RunContext& run) {
  if (config_.save_checkpoint_steps() == 0 && run.epoch % config_.save_checkpoint_epochs() == 0) save(run);
}

void ModelCheckpoint::save(RunContext& run) {
  const std::string name = prefix_ + "-" + std::to_string(run.epoch) + "_" + std::to_string(run.step) + ".ckpt";
  run.model.save_checkpoint((fs::path(directory_) / name).string());
  if (config_.keep_checkpoint_max() == 0) return;
  const auto all = find(prefix_, directory_);
  for (size_t i = 0; i + static_cast<size_t>(config_.keep_checkpoint_max()) < all.size(); ++i) {
    std::error_code error;
    fs::remove(all[i], error);
    HB_CHECK(!error, "[ModelCheckpoint] cannot remove ", all[i], ": ", error.message());
  }
}

}  // namespace hb::train
