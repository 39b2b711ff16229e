#pragma once
#include <halfbridge/bridge/autograd/basic_nodes.h>
#include <torch/autograd.h>
