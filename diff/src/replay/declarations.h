// What runs a layer again, by the name that modules.def and functions.def have in the column `forward`. The types, and
// their options, stand there.
#pragma once

#include <initializer_list>

#include "layer.h"

namespace hb::layer_diff::replay {

struct Line {
  const char* name;
  Forward forward;
};
using Lines = std::initializer_list<Line>;

const Lines& activation_lines();
const Lines& conv_lines();
const Lines& pooling_lines();
const Lines& norm_lines();
const Lines& basic_lines();
const Lines& loss_lines();
const Lines& recurrent_lines();
const Lines& attention_lines();

}  // namespace hb::layer_diff::replay
