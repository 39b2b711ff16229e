#pragma once
#include <torch/optim/adagrad.h>
