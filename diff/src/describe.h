// How outputs name things.
#pragma once

#include <string>

#include <halfbridge/diff/report.h>
#include <halfbridge/io/keys.h>

namespace hb::layer_diff {

/// The path; of a root its class, of a function its name with parentheses. With `roots` the root stands in front.
std::string layer_name(const Call& call, bool roots);
std::string layer_name(const LayerDiff& layer, bool roots);
/// "layer1.0.bn1 (BatchNorm2d)"
std::string layer_title(const Call& call, bool roots);
/// The type; both where they differ: "ReLU / gelu".
std::string layer_type(const LayerDiff& layer);
/// "output 0", "grad_input 0", "weight"
std::string tensor_name(const Record& record);
std::string state_name(const StateDiff& state, bool roots);
/// Whether the report has calls of several roots.
bool many_roots(const Report& report);

const char* name_of(Match match);
const char* name_of(Verdict verdict);

const Record& any_of(const TensorDiff& pair);
/// The pair that shows most: the first that cannot be compared, else that with the most elements out of tolerance, else
/// with the largest error. Null for none.
const TensorDiff* worst_of(const std::vector<TensorDiff>& pairs, bool (*taken)(Kind));
bool is_output(Kind kind);
bool is_gradient(Kind kind);

std::string printed(const std::vector<int64_t>& values);
/// "1.2e-06", "0", "inf"
std::string printed(double value);
/// Decibels, "equal" for no error.
std::string printed_snr(const Metrics& metrics);
/// A text from a file without what a terminal would obey.
using io::printable;

}  // namespace hb::layer_diff
