#pragma once
// hb::summary(model, {64, 1, 28, 28}): what a network is made of, as a table.

#include <initializer_list>
#include <iosfwd>
#include <string>
#include <vector>

#include <halfbridge/train/network.h>

namespace hb {

namespace train {

/// One module of a network.
struct SummaryRow {
  std::string name;                           // under which its parent holds it
  std::string type;                           // class, without namespace and Impl
  int depth = 0;                              // 0: the network itself
  std::vector<std::vector<int64_t>> outputs;  // shapes of its first call; empty where none was seen
  int64_t parameters = 0;                     // elements of it and of everything below it
  bool trainable = true;                      // one of them requires a gradient
  bool seen_before = false;                   // the same module stands further up and is counted there
};

/// Sizes are in bytes.
struct Summary {
  std::vector<SummaryRow> rows;  // in the order of registration, depth first
  int64_t total_parameters = 0, trainable_parameters = 0;
  int64_t input_bytes = 0, parameter_bytes = 0, buffer_bytes = 0;
  int64_t forward_bytes =
      0;  // outputs of the innermost modules: about what a forward pass leaves for the backward pass
};
/// The table.
HB_API std::ostream& operator<<(std::ostream& out, const Summary& summary);

/// Runs the network once on `inputs`, in evaluation mode and without gradients, and looks on through hooks. Training
/// modes, hooks and the random number generator are afterwards as before.
HB_API Summary summarize(const Network& network, const std::vector<Tensor>& inputs);
/// Random inputs of these shapes on the device of the first parameter: normal in floating dtypes, else zeros.
HB_API std::vector<Tensor> example_inputs(const Network& network, const std::vector<std::vector<int64_t>>& shapes,
                                          ScalarType dtype);

}  // namespace train

/// What `network` is made of; stream it to print the table. `input_shape` includes the batch. Modules of the program's
/// own whose `forward` is called as a plain member show no output shape (see hooks.h).
inline train::Summary summary(const train::Network& network, std::vector<int64_t> input_shape,
                              ScalarType dtype = kFloat) {
  return train::summarize(network, train::example_inputs(network, {std::move(input_shape)}, dtype));
}
inline train::Summary summary(const train::Network& network, std::initializer_list<int64_t> input_shape,
                              ScalarType dtype = kFloat) {
  return summary(network, std::vector<int64_t>(input_shape), dtype);
}
/// A network of several inputs.
inline train::Summary summary(const train::Network& network, std::vector<std::vector<int64_t>> input_shapes,
                              ScalarType dtype = kFloat) {
  return train::summarize(network, train::example_inputs(network, input_shapes, dtype));
}
/// With given inputs.
inline train::Summary summary(const train::Network& network, const std::vector<Tensor>& inputs) {
  return train::summarize(network, inputs);
}

}  // namespace hb
