#include "commands.h"

namespace hb::cli {

void add_checkpoint(CLI::App& app, int& exit) {
  CLI::App* command = app.add_subcommand("checkpoint", "Inspect, convert and compare checkpoints");
  command->require_subcommand(1);
  checkpoint::add_show(*command, exit);
  checkpoint::add_convert(*command, exit);
  checkpoint::add_diff(*command, exit);
  command->footer(
      "Formats, by the names that --to and --json use:\n"
      "  torch         Python's torch.save, torch::pickle_save\n"
      "  torch-legacy  Python's torch.save before 1.6 (read only)\n"
      "  libtorch      torch::save of modules, optimizers, tensors\n"
      "  torchscript   parameters and buffers of a scripted module (read only)\n"
      "  safetensors   one file\n"
      "  sharded       safetensors in several files with NAME.safetensors.index.json");
}

}  // namespace hb::cli
