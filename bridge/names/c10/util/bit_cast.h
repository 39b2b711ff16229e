#pragma once
#include <torch/headeronly/util/bit_cast.h>
