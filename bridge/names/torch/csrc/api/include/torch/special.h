#pragma once
#include <torch/special.h>
