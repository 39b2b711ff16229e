// Recurrent networks, step by step from the functions of one step.
#include <halfbridge/ops.h>
#include <halfbridge/ops/nn.h>

#include "declarations.h"

namespace hb::layer_diff::replay {

namespace {

enum class Cell { rnn, lstm, gru };

struct Weights {
  Tensor ih, hh, b_ih, b_hh, hr;
};
struct Step {
  Tensor h, c;
};

Weights weights(const Run& run, const std::string& suffix) {
  const auto find = [&](const char* name) {
    const auto found = run.state.find(name + suffix);
    return found == run.state.end() ? Tensor() : found->second;
  };
  Weights w{find("weight_ih"), find("weight_hh"), find("bias_ih"), find("bias_hh"), find("weight_hr")};
  HB_CHECK(w.ih.defined() && w.hh.defined(), "[replay] the weights of this recurrent layer are not in the trace");
  return w;
}

Step advance(const Run& run, Cell cell, const Weights& w, const Tensor& x, const Step& before) {
  if (cell == Cell::gru) return {hb::gru_cell(x, before.h, w.ih, w.hh, w.b_ih, w.b_hh), {}};
  if (cell == Cell::lstm) {
    auto [h, c] = hb::lstm_cell(x, std::vector<Tensor>{before.h, before.c}, w.ih, w.hh, w.b_ih, w.b_hh);
    return {w.hr.defined() ? h.matmul(w.hr.t()) : h, c};
  }
  const bool relu = run.args.word("nonlinearity") == "relu";
  return {(relu ? hb::rnn_relu_cell : hb::rnn_tanh_cell)(x, before.h, w.ih, w.hh, w.b_ih, w.b_hh), {}};
}

// One direction of one layer: x is (T, B, features).
Tensor direction(const Run& run, Cell cell, const Weights& w, const Tensor& x, bool reverse, Step& state) {
  std::vector<Tensor> steps(static_cast<size_t>(x.size(0)));
  for (int64_t i = 0; i < x.size(0); ++i) {
    const int64_t t = reverse ? x.size(0) - 1 - i : i;
    state = advance(run, cell, w, x.select(0, t), state);
    steps[static_cast<size_t>(t)] = state.h;
  }
  return hb::stack(steps, 0);
}

template <Cell cell>
Tensors network(Run& run) {
  const Arguments& o = run.args;
  const bool batch_first = o.flag("batch_first"), unbatched = run.input(0).dim() == 2;
  const int64_t layers = o.integer("num_layers"), directions = o.flag("bidirectional") ? 2 : 1;
  HB_CHECK(!(run.training() && layers > 1 && o.number("dropout") > 0),
           "[replay] the dropout between recurrent layers cannot be run again");
  Tensor x = run.input(0);
  if (unbatched) x = x.unsqueeze(1);
  if (batch_first && !unbatched) x = x.transpose(0, 1);
  const auto initial = [&](size_t position, const Tensor& like, int64_t index) {
    const Tensor given = run.input_or_none(position);
    if (!given.defined()) return hb::zeros({x.size(1), like.size(0)}, x.options());
    return unbatched ? given.select(0, index).unsqueeze(0) : given.select(0, index);
  };
  std::vector<Tensor> hidden, cells;
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::vector<Tensor> both;
    for (int64_t d = 0; d < directions; ++d) {
      const Weights w = weights(run, "_l" + std::to_string(layer) + (d ? "_reverse" : ""));
      const int64_t index = layer * directions + d;
      Step state{initial(1, w.hh.t(), index), {}};
      if (cell == Cell::lstm) state.c = initial(2, (w.hr.defined() ? w.hr : w.hh).t(), index);
      both.push_back(direction(run, cell, w, x, d == 1, state));
      hidden.push_back(state.h);
      cells.push_back(state.c);
    }
    x = both.size() == 1 ? both[0] : hb::cat(both, -1);
  }
  const auto stacked = [&](const std::vector<Tensor>& list) {
    return unbatched ? hb::cat(list, 0) : hb::stack(list, 0);
  };
  if (unbatched) x = x.squeeze(1);
  if (batch_first && !unbatched) x = x.transpose(0, 1);
  if (cell == Cell::lstm) return {x, stacked(hidden), stacked(cells)};
  return {x, stacked(hidden)};
}

template <Cell cell>
Tensors single_step(Run& run) {
  const Weights w = weights(run, "");
  const Tensor& x = run.input(0);
  const auto initial = [&](size_t i) {
    if (run.input_or_none(i).defined()) return run.input(i);
    return x.dim() == 1 ? hb::zeros({w.hh.size(1)}, x.options()) : hb::zeros({x.size(0), w.hh.size(1)}, x.options());
  };
  Step state{initial(1), cell == Cell::lstm ? initial(2) : Tensor()};
  state = advance(run, cell, w, x, state);
  if (cell == Cell::lstm) return {state.h, state.c};
  return {state.h};
}

}  // namespace

const Lines& recurrent_lines() {
  static const Lines lines = {
      {"rnn", network<Cell::rnn>},
      {"lstm", network<Cell::lstm>},
      {"gru", network<Cell::gru>},
      {"rnn_cell", single_step<Cell::rnn>},
      {"lstm_cell", single_step<Cell::lstm>},
      {"gru_cell", single_step<Cell::gru>},
  };
  return lines;
}

}  // namespace hb::layer_diff::replay
