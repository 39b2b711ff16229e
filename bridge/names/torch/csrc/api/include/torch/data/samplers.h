#pragma once
#include <torch/data/samplers.h>
