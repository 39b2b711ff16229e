// One training of the demo: a net, a data set, a precision.
#pragma once

#include <torch/torch.h>

#include <string>

#include "images.h"

namespace demo {

enum class Precision { kF32, kBf16, kFp16 };

const char* name_of(Precision precision);

struct Plan {
  std::string data;  // "digits" or "mnist"
  std::string net;   // "mlp" or "conv"
  Precision precision = Precision::kF32;
  int64_t epochs = 1;
  int64_t batch = 64;
  double lr = 0.05;
  uint64_t seed = 1;
};

struct Outcome {
  double accuracy = 0;     // on the held-back images
  double loss = 0;         // mean of the last epoch
  double ms_per_step = 0;  // median
  double peak_mib = 0;     // growth of resident memory over what the process held before the net was made
  int64_t skipped = 0;     // steps whose gradients overflowed
};

/// Trains as planned, with a progress bar.
Outcome train(const Plan& plan, const LabelledImages& training, const LabelledImages& held_back);

}  // namespace demo
