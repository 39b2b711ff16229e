// What every module's case records: its text, first weights, results, gradients, and state after a training step.
#pragma once
#include <sstream>

#include "parity/case.h"

namespace parity {

template <class Holder>
std::string text_of(const Holder& module) {
  std::ostringstream text;
  text << module;
  return text.str();
}

inline Tensors with_gradient(const Tensors& tensors) {
  Tensors wanted;
  for (const auto& t : tensors)
    if (t.defined() && t.requires_grad()) wanted.push_back(t);
  return wanted;
}

template <class Holder>
void record_weights(Case& c, const std::string& what, Holder& module) {
  for (const auto& p : module->named_parameters()) c.out(what + "." + p.key(), p.value());
  for (const auto& b : module->named_buffers()) c.out(what + "." + b.key(), b.value());
}

// `inputs` go to forward in this order.
template <class Holder, class... Inputs>
void module(Case& c, const std::string& label, Holder m, const Inputs&... inputs) {
  c.scope(label, [&] {
    c.text("text", text_of(m));
    record_weights(c, "init", m);
    auto y = m->forward(inputs...);
    c.out("y", y);
    auto wanted = with_gradient({inputs...});
    for (const auto& p : m->parameters()) wanted.push_back(p);
    wanted = with_gradient(wanted);
    if (!wanted.empty() && y.requires_grad()) c.backward("y", y, wanted);
    for (const auto& b : m->named_buffers()) c.out("after." + b.key(), b.value());
    m->eval();
    c.out("eval", m->forward(inputs...));
    auto copy = m->clone();
    c.value("clone_parameters", static_cast<int64_t>(copy->parameters().size()));
    c.text("clone_text", text_of(*copy));
  });
}

}  // namespace parity
