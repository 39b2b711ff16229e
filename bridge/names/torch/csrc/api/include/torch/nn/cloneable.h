#pragma once
#include <torch/nn/cloneable.h>
