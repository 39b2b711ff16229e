// The search for the cause of one layer's error: the reference's layer is changed in one point and run on the test's
// inputs. A change is a cause when what comes out is the test's output, up to rounding.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "../replay/model.h"

namespace hb::layer_diff::hints {

using replay::CallData;
using replay::Layer;
using replay::Model;
using replay::Tensors;

class Search {
 public:
  Search(const CallData& ref, const CallData& test, const Model& ref_model, const Model& test_model, size_t output,
         bool own_state, double seconds);

  /// Runs the changed layer; notes a hint if it agrees.
  bool attempt(const std::string& cause, const std::string& text, const Layer& changed);
  bool attempt(const std::string& cause, const std::string& text, const Layer& changed, const Tensors& inputs);
  /// Root of the mean square of what is left; nothing where the layer refuses.
  std::optional<double> left(const Layer& changed) const;
  /// Output of the reference's layer on the test's inputs; undefined where it refuses.
  Tensor expected() const;
  void add(const std::string& cause, const std::string& text, double max_abs);

  const Layer& layer() const { return *ref_model.layer; }
  const Tensor& output() const { return test.outputs[k]; }
  bool out_of_time() const { return std::chrono::steady_clock::now() > deadline_; }

  const CallData &ref, &test;
  const Model &ref_model, &test_model;
  const size_t k;
  const bool own_state;  // the parameters differ since the start, not by training
  Tensors inputs;        // the test's, in the reference's shapes
  replay::Noise noise;
  std::vector<Hint> found;

 private:
  std::chrono::steady_clock::time_point deadline_;
};

// The kinds of changes, most telling first. Each may add several hints.
void try_given_inputs(Search& search);
void try_other_type(Search& search);
void try_mode(Search& search);
void try_printed_options(Search& search);
void try_recorded_state(Search& search);
void try_options(Search& search);
void solve_options(Search& search);
void try_rearranged_state(Search& search);
void try_rearranged_inputs(Search& search);
void try_output(Search& search);
void try_precision(Search& search);

/// All of them; the best hint first.
std::vector<Hint> find_causes(Search& search);

/// The name of an input, "the initial hidden state" of a recurrent layer; empty where it has none.
std::string input_name(const std::string& type, int64_t index);
/// "agrees with eps=0.001 (the reference has eps=1e-05)"
std::string option_text(const std::string& name, const replay::Value& value, const replay::Value& of_ref);

/// What is wrong with a parameter or buffer of the test, from the two tensors alone: the keys, the order of its
/// elements, its scale, that it was never loaded. Nothing where it differs in no way that is known. `path`, `type` and
/// `step` are those of its module in the reference.
std::optional<Hint> describe_state(const Trace& ref, const std::string& path, const std::string& type, int64_t step,
                                   const std::string& name, const Tensor& of_ref, const Tensor& of_test);
/// Whether the tensors of a layer look as this library makes them, untrained.
bool looks_initial(const std::string& type, const std::string& name, const Tensor& tensor);
/// The module of `trace` that has the tensor `name` with these values at the step; empty for none.
std::string owner_of(const Trace& trace, const std::string& name, const Tensor& tensor, int64_t step);

}  // namespace hb::layer_diff::hints
