#pragma once
#include <halfbridge/accumulate_grad.h>
#include <torch/autograd.h>
