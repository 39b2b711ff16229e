// Alignment of two short sequences of calls by what they look like.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <halfbridge/diff/trace.h>

#include "op_types.h"

namespace hb::layer_diff {

/// What is compared of a call.
struct Look {
  const Call* call = nullptr;
  std::string type;    // canonical, else as it is
  bool known = false;  // the type is an operation that we know
  Compositions compositions;
  bool any_type = false;            // says nothing of what it does
  std::string path, name;           // in the words of the test; the last part of the path
  std::vector<std::string> states;  // name and shape of parameters and buffers, sorted; empty where none was recorded
};

/// Pairs of positions: ref[first_ref .. last_ref] does what test[first_test .. last_test] does; one of the ranges is
/// one call.
struct Span {
  size_t first_ref, last_ref, first_test, last_test;
};

/// The pairs whose evidence sums up to the most, in order and without crossings. Evidence is in the types, the shapes
/// of outputs, inputs and states and the names. Time and memory grow with the product of the lengths up to a bound;
/// longer sequences are aligned within a band around the diagonal.
std::vector<Span> align_sequences(const std::vector<Look>& ref, const std::vector<Look>& test);

/// Whether the first outputs (inputs) of two calls have one layout; true also where none was recorded on a side.
bool outputs_fit(const Call& ref, const Call& test);

}  // namespace hb::layer_diff
