#include "pairing.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <halfbridge/error.h>
#include <halfbridge/trace/pattern.h>

#include "compare_tensors.h"
#include "describe.h"

namespace hb::layer_diff {
namespace {

double parse_tolerance(const std::string& text, const std::string& whole) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= 0) || std::isinf(value)) {
    throw ValueError("[tol] expected PATTERN=TOLERANCE or PATTERN=ATOL,RTOL, got '" + whole + "'");
  }
  return value;
}

// Pairs tensors by their position in the call.
void pair_by_index(const std::vector<const Record*>& ref, const std::vector<const Record*>& test,
                   const Tolerance& tolerance, std::vector<TensorDiff>& pairs) {
  for (const Record* r : ref) {
    const auto t = std::find_if(test.begin(), test.end(), [&](const Record* x) { return x->index == r->index; });
    if (t != test.end()) pairs.push_back(pair_tensors(r, *t, tolerance));
  }
}

// Pairs by shape, in order: a function takes the weights among its arguments, in an order of its own.
void pair_by_shape(const std::vector<const Record*>& ref, const std::vector<const Record*>& test,
                   const Tolerance& tolerance, std::vector<TensorDiff>& pairs) {
  std::vector<const Record*> left = test;
  for (const Record* r : ref) {
    const auto t =
        std::find_if(left.begin(), left.end(), [&](const Record* x) { return same_layout(r->shape, x->shape); });
    if (t == left.end()) continue;
    pairs.push_back(pair_tensors(r, *t, tolerance));
    left.erase(t);
  }
}

}  // namespace

LayerTolerance parse_layer_tolerance(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return {"", {parse_tolerance("", text), 0}};
  const std::string value = text.substr(equals + 1);
  const size_t comma = value.find(',');
  LayerTolerance result{text.substr(0, equals), {}};
  result.tolerance.atol = parse_tolerance(value.substr(0, comma), text);
  result.tolerance.rtol =
      comma == std::string::npos ? result.tolerance.atol : parse_tolerance(value.substr(comma + 1), text);
  return result;
}

Tolerance tolerance_of(const CompareOptions& options, const std::string& path, const std::string& type) {
  Tolerance tolerance = options.tolerance;
  for (const LayerTolerance& layer : options.layers) {
    if (trace::matches_pattern(layer.pattern, path) || (path.empty() && trace::matches_pattern(layer.pattern, type))) {
      tolerance = layer.tolerance;
    }
  }
  return tolerance;
}

TensorDiff pair_tensors(const Record* ref, const Record* test, const Tolerance& tolerance) {
  TensorDiff pair;
  pair.ref = ref;
  pair.test = test;
  pair.tolerance = tolerance;
  if (!ref || !test) {
    pair.problem = ref ? "the test has none" : "the reference has none";
  } else if (ref->shape != test->shape) {
    if (same_layout(ref->shape, test->shape)) {
      pair.note = "test viewed as " + printed(ref->shape);
    } else {
      pair.problem = "shapes differ: " + printed(ref->shape) + " against " + printed(test->shape);
    }
  }
  return pair;
}

LayerDiff pair_layer(const Aligned& row, const CompareOptions& options) {
  LayerDiff layer;
  layer.match = row.match;
  layer.ref = row.ref;
  layer.test = row.test;
  layer.fused = row.fused;
  layer.fused_in_ref = row.fused_in_ref;
  layer.step = row.ref ? row.ref->step : row.test->step;
  layer.container = (row.ref && row.ref->has_children) || (row.test && row.test->has_children);
  if (!row.ref || !row.test) return layer;
  const Call& ref = *row.ref;
  const Call& test = *row.test;
  const Tolerance tolerance = tolerance_of(options, ref.has_path ? ref.path : test.path, ref.type);
  // A group takes in what its first call does, and gives out what its last one does.
  const Call& ref_first = row.fused_in_ref && !row.fused.empty() ? *row.fused.front() : ref;
  const Call& test_first = !row.fused_in_ref && !row.fused.empty() ? *row.fused.front() : test;
  const auto pair = row.fused.empty() && ref.type == test.type ? pair_by_index : pair_by_shape;
  pair(ref_first.inputs, test_first.inputs, tolerance, layer.forward);
  pair_by_index(ref.outputs, test.outputs, tolerance, layer.forward);
  pair_by_index(ref.grad_outputs, test.grad_outputs, tolerance, layer.backward);
  pair(ref_first.grad_inputs, test_first.grad_inputs, tolerance, layer.backward);
  return layer;
}

}  // namespace hb::layer_diff
