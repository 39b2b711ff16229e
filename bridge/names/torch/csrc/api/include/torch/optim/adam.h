#pragma once
#include <torch/optim/adam.h>
