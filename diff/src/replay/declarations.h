// The table of types. A line is {type, options, forward}: the options in the order in which they may stand without a
// name, each `name`, `name=default` or `name=default|other|other` (further values that a wrong port would have), with ~
// for = where any positive number is possible. A module and the function of its name have a line each.
#pragma once

#include <initializer_list>

#include "layer.h"

namespace hb::layer_diff::replay {

struct Line {
  const char* types;  // separated by spaces
  const char* options;
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
