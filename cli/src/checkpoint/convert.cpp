// halfbridge checkpoint convert
#include <algorithm>

#include <fmt/format.h>
#include <halfbridge/error.h>

#include "commands.h"
#include "common.h"

namespace hb::cli::checkpoint {
namespace {

struct ConvertOptions {
  std::string from, to, format;
  Names names;
  uint64_t shard_bytes = 0;
  bool tensors_only = false;
  std::vector<std::string> modules;
};

bool ends_with(const std::string& text, const std::string& ending) {
  return text.size() >= ending.size() && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

io::CheckpointFormat target_format(const ConvertOptions& options) {
  using Format = io::CheckpointFormat;
  if (!options.format.empty()) {
    const auto format = io::format_of_name(options.format);
    HB_CHECK(format, "--to: expected torch, libtorch, safetensors or sharded, got '", options.format, "'");
    return *format;
  }
  if (ends_with(options.to, ".safetensors.index.json")) return Format::ShardedSafetensors;
  if (ends_with(options.to, ".safetensors")) {
    return options.shard_bytes ? Format::ShardedSafetensors : Format::Safetensors;
  }
  throw hb::Error("'" + options.to + "': its name does not tell the format: add --to torch, libtorch or safetensors");
}

// model.safetensors in several files has the index model.safetensors.index.json.
std::string target_path(const ConvertOptions& options, io::CheckpointFormat format) {
  if (format != io::CheckpointFormat::ShardedSafetensors || ends_with(options.to, ".index.json")) return options.to;
  return options.to + (ends_with(options.to, ".safetensors") ? ".index.json" : ".safetensors.index.json");
}

// Formats that keep tensors apart write one that is there twice twice.
bool any_shared(const io::NamedTensors& tensors) {
  for (const auto& item : tensors)
    if (item.second.numel() > 0 && item.second.storage().nbytes() > item.second.nbytes()) return true;
  std::vector<const void*> seen;
  for (const auto& item : tensors)
    if (item.second.numel() > 0) seen.push_back(item.second.storage().data());
  std::sort(seen.begin(), seen.end());
  return std::adjacent_find(seen.begin(), seen.end()) != seen.end();
}

int run(const ConvertOptions& options) {
  const io::CheckpointFormat format = target_format(options);
  const std::string path = target_path(options, format);
  const io::StateDictFile file = io::load_state_dict_file(options.from);
  IValue value = select(file, options.names, options.from);
  io::NamedTensors tensors = io::flatten(value);
  io::SaveStateDictOptions save;
  save.format = format;
  save.modules = options.modules;
  if (options.shard_bytes) save.max_shard_bytes = options.shard_bytes;
  const bool safetensors =
      format == io::CheckpointFormat::Safetensors || format == io::CheckpointFormat::ShardedSafetensors;
  if (safetensors) save.metadata = file.metadata;
  if (options.names.any() || options.tensors_only) {
    const size_t others = io::flatten_others(value).size();
    if (others) fmt::print(stderr, "note: {} values that are not tensors are left out\n", others);
    tensors = rename(std::move(tensors), options.names);
    value = io::dict_of(tensors);
  }
  if (safetensors && any_shared(tensors)) {
    fmt::print(stderr, "note: tensors share memory in '{}'; safetensors store each in full\n", options.from);
  }
  io::save_state_dict_file(value, path, save);
  fmt::print("{} ({}) -> {} ({}): {} tensors, {}\n", options.from, io::format_name(file.format), path,
             io::format_name(format), tensors.size(), size_text(bytes_of(tensors)));
  return kAgrees;
}

}  // namespace

void add_convert(CLI::App& app, int& exit) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = app.add_subcommand("convert", "Write a checkpoint in another format or with other names");
  command->add_option("IN", options->from, "A checkpoint of any format")->required();
  command->add_option("OUT", options->to, "The file to write; an existing one is replaced when the new one is complete")
      ->required();
  command
      ->add_option("--to", options->format, "torch, libtorch, safetensors or sharded; by default OUT's suffix decides")
      ->type_name("FORMAT");
  add_name_options(*command, options->names);
  command
      ->add_option("--shard-size", options->shard_bytes,
                   "Write safetensors in several files of at most this size (500MB, 5GB)")
      ->transform(CLI::AsSizeValue(true))
      ->type_name("SIZE");
  command
      ->add_option("--module", options->modules,
                   "libtorch: a submodule without tensors that torch::load will ask for, such as 'features.relu'; may "
                   "be repeated. Gaps between numbered ones are filled automatically")
      ->type_name("NAME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--tensors-only", options->tensors_only,
                    "Leave out epochs, options and everything else that is not a tensor");
  command->footer(
      "Without name options the structure is kept: nested dicts, optimizer states, numbers. With them the result is "
      "one dict\n"
      "of tensors by dotted name. For libtorch, dicts become nested archives and optimizer states LibTorch's. What a "
      "format\n"
      "cannot hold is an error. Safetensors keep the structure in their header.\n\n"
      "  halfbridge checkpoint convert model.safetensors model.pt --to torch\n"
      "  halfbridge checkpoint convert train.pt weights.pt --to libtorch --only model --strip module.\n"
      "  halfbridge checkpoint convert old.pt new.safetensors --rename 'encoder=enc' --rename "
      "'/layer(\\d+)/=layers.$1'\n"
      "  halfbridge checkpoint convert big.pt big.safetensors --shard-size 2GB");
  command->callback([options, &exit] { exit = run(*options); });
}

}  // namespace hb::cli::checkpoint
