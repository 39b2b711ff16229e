#pragma once
#include <torch/mps.h>
