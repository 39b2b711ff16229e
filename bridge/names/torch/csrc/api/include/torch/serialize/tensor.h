#pragma once
#include <torch/serialize/tensor.h>
