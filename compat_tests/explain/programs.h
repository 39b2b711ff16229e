// Runs of one program with and without a mistake, recorded by a session, and their comparison.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <string>

#include <halfbridge/trace/session.h>

#include "reports.h"

using Program = std::function<void(bool wrong)>;

/// Records all steps of the program from one seed.
inline std::string record_program(const std::string& name, const Program& program, bool wrong) {
  const std::string folder = trace_folder(name + (wrong ? "_test" : "_ref"));
  std::filesystem::remove_all(folder);
  hb::trace::SessionOptions options;
  options.steps = "all";
  hb::trace::Session session(folder, {}, options);
  torch::manual_seed(3);
  program(wrong);
  return folder;
}

inline Report compare_programs(const std::string& name, const Program& program) {
  const std::string ref = record_program(name, program, false);
  return explained(ref, record_program(name, program, true));
}

/// A root whose parts are registered by hand.
struct Parts : torch::nn::Module {
  Parts() : Module("Net") {}
  template <class Holder>
  Holder add(const std::string& name, Holder part) {
    register_module(name, part);
    return part;
  }
};

/// Values of a trained network: nothing is as a new layer has it.
inline void train_a_little(torch::nn::Module& net) {
  torch::NoGradGuard no_grad;
  for (auto& p : net.parameters()) p.mul_(1.3).add_(torch::randn_like(p) * 0.2);
  for (auto& b : net.buffers())
    if (b.is_floating_point()) b.add_(torch::rand_like(b));
}

inline void put(const torch::Tensor& target, const torch::Tensor& value) {
  torch::NoGradGuard no_grad;
  torch::Tensor(target).copy_(value.clone());
}
