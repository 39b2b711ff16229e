#pragma once
#include <torch/autograd.h>
