#pragma once
// Checkpoints of several processes: one file, written by rank 0.

#include <functional>
#include <string>

#include <halfbridge/bridge/serialize/archive.h>
#include <halfbridge/distributed/process_group.h>

namespace hb::distributed {

using SaveState = std::function<void(bridge::serialize::OutputArchive&)>;
using LoadState = std::function<void(bridge::serialize::InputArchive&)>;

/// Writes one file that appears only when it is complete: what rank 0's `shared` writes (weights, say, which all ranks
/// have), and what each rank's `own` writes (its share of a sharded optimizer, its random numbers, its place in the
/// data). All ranks call it; it returns when the file is there, and throws on all ranks where it cannot be written.
/// `group`: null for that of init().
HB_API void save_checkpoint(const std::string& path, const SaveState& shared, const SaveState& own,
                            intrusive_ptr<ProcessGroup> group = {});
/// Reads it back. All ranks call it. Ranks that do not have the file get rank 0's. Throws for a file that was written
/// by another number of ranks.
HB_API void load_checkpoint(const std::string& path, const LoadState& shared, const LoadState& own,
                            intrusive_ptr<ProcessGroup> group = {});
/// `directory`/`prefix`-`step`.ckpt
HB_API std::string checkpoint_path(const std::string& directory, const std::string& prefix, int64_t step);
/// The file of this form with the largest step on rank 0, which all ranks can load; empty where there is none. All
/// ranks call it.
HB_API std::string newest_checkpoint(const std::string& directory, const std::string& prefix,
                                     intrusive_ptr<ProcessGroup> group = {});

}  // namespace hb::distributed
