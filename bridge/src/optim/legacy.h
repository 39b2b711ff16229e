#pragma once
// Archives of optimizers that LibTorch wrote before 1.5: lists of buffers, one entry per parameter, no options, no
// groups.

#include <halfbridge/bridge/optim/serialize.h>

namespace hb::bridge::optim::detail {

/// Reads one into the state of the optimizer's first group; warns that the archive is old.
void load_legacy(serialize::InputArchive& archive, Optimizer& optimizer, StateFactory new_state);

}  // namespace hb::bridge::optim::detail
