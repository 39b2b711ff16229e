#pragma once
// What the checkpoint commands share.

#include <string>
#include <vector>

#include <halfbridge/io/dtype_name.h>
#include <halfbridge/io/keys.h>
#include <halfbridge/io/state_dict.h>
#include <CLI/CLI.hpp>

namespace hb::cli::checkpoint {

/// Options that choose and rename tensors of a file.
struct Names {
  std::string only, strip, prefix;
  std::vector<std::string> rename;
  bool any() const { return !strip.empty() || !prefix.empty() || !rename.empty(); }
};

/// --rename, --only, --strip and --prefix; `whose` says which names: " of the first", or nothing.
void add_name_options(CLI::App& command, Names& names, const std::string& whose = "");

/// What stands at `only`, or all. Throws where there is nothing.
IValue select(const io::StateDictFile& file, const Names& names, const std::string& path);
/// Without `strip` at the front, by the rules, behind `prefix`. Rules and prefixes that fit nothing are noted on
/// stderr.
io::NamedTensors rename(io::NamedTensors tensors, const Names& names);

/// "[2, 3]".
std::string shape_text(const Tensor& tensor);
/// "1.2 MB", of 1000.
std::string size_text(uint64_t bytes);
/// A value that is not a tensor in at most `most` characters.
std::string value_text(const IValue& value, size_t most = 60);
using io::printable;
uint64_t bytes_of(const io::NamedTensors& tensors);

}  // namespace hb::cli::checkpoint
