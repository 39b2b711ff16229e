#pragma once
// The graph's names as the library's sources use them. They stand in hb::autodiff, so that `using namespace torch`
// leaves a program its own Node, Edge and BackwardPass.

#include <halfbridge/autograd.h>

namespace hb {
using autodiff::BackwardPass;
using autodiff::Edge;
using autodiff::edge_list;
using autodiff::InputMetadata;
using autodiff::Node;
}  // namespace hb
