#pragma once
#include <c10/names.h>

namespace torch::autograd {
using InferenceMode = hb::InferenceMode;
}
