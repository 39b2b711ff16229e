#include "search.h"

#include <algorithm>

#include <halfbridge/error.h>
#include <halfbridge/ops.h>

#include "relations.h"

namespace hb::layer_diff::hints {

using replay::error_of;

Search::Search(const CallData& ref_, const CallData& test_, const Model& ref_model_, const Model& test_model_,
               size_t output, bool own_state_, double seconds)
    : ref(ref_),
      test(test_),
      ref_model(ref_model_),
      test_model(test_model_),
      k(output),
      own_state(own_state_),
      inputs(replay::shaped_like(test_.inputs, ref_.inputs)),
      deadline_(std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                       std::chrono::duration<double>(seconds))) {
  const Dtype dtype = replay::coarser(ref.dtype, test.dtype);
  try {
    noise = replay::noise_between(replay::forward(layer(), inputs, dtype).at(k),
                                  replay::forward(layer(), inputs, kDouble).at(k), dtype);
  } catch (const std::exception&) {
    noise = ref_model.noise;  // the reference's layer refuses the test's inputs; a changed one may take them
  }
  noise.rms = std::max(noise.rms, ref_model.noise.rms);
  noise.max = std::max(noise.max, ref_model.noise.max);
}

bool Search::attempt(const std::string& cause, const std::string& text, const Layer& changed) {
  return attempt(cause, text, changed, inputs);
}

bool Search::attempt(const std::string& cause, const std::string& text, const Layer& changed, const Tensors& given) {
  if (out_of_time()) return false;
  try {
    const Tensors outputs = replay::forward(changed, given, test.dtype);
    if (k >= outputs.size() || !outputs[k].defined() || outputs[k].numel() != output().numel()) return false;
    const auto error = error_of(output(), outputs[k]);
    // The changed layer may round more than the reference's does: statistics of a batch do.
    constexpr double kRoom = 4;
    replay::Noise room = noise;
    room.rms *= kRoom, room.max *= kRoom;
    if (!room.explains(error)) return false;
    add(cause, text, error.max);
    return true;
  } catch (const std::exception&) {
    return false;  // a change that the layer refuses is not the cause
  }
}

std::optional<double> Search::left(const Layer& changed) const {
  try {
    const Tensors outputs = replay::forward(changed, inputs, kDouble);
    if (k >= outputs.size() || outputs[k].numel() != output().numel()) return std::nullopt;
    return error_of(output(), outputs[k]).rms;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

Tensor Search::expected() const {
  try {
    return replay::forward(layer(), inputs, kDouble).at(k);
  } catch (const std::exception&) {
    return Tensor();
  }
}

void Search::add(const std::string& cause, const std::string& text, double max_abs) {
  const bool known = std::any_of(found.begin(), found.end(), [&](const Hint& h) { return h.cause == cause; });
  if (!known) found.push_back({cause, text, max_abs});
}

std::vector<Hint> find_causes(Search& search) {
  if (!search.ref_model.reproduces) return {};
  using Try = void (*)(Search&);
  // What is recorded to differ first, then what could be; the search ends with the first kind that finds a cause.
  constexpr Try kinds[] = {try_given_inputs, try_other_type, try_mode,   try_printed_options,  try_recorded_state,
                           try_options,      solve_options,  try_output, try_rearranged_state, try_rearranged_inputs};
  constexpr size_t kOfAnySize = 6;  // the others take outputs element by element
  const bool same_size = search.ref.outputs[search.k].numel() == search.output().numel();
  for (size_t i = 0; i < (same_size ? std::size(kinds) : kOfAnySize); ++i) {
    kinds[i](search);
    if (!search.found.empty() || search.out_of_time()) break;
  }
  try_precision(search);
  return search.found;
}

}  // namespace hb::layer_diff::hints
