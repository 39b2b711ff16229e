#pragma once
#include <torch/types.h>

namespace torch::enumtype {
using namespace hb::bridge::enumtype;
}
