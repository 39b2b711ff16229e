#pragma once
#include <torch/nn/init.h>
