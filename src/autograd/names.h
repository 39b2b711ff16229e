#pragma once
// The graph's names as the library's sources use them. They stand in hb::autograd, so that `using namespace torch`
// leaves a program its own Node, Edge and Engine.

#include <halfbridge/autograd.h>

namespace hb {
using autograd::Edge;
using autograd::edge_list;
using autograd::Engine;
using autograd::InputMetadata;
using autograd::Node;
}  // namespace hb
