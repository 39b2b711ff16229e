#pragma once
#include <ATen/core/class_type.h>
#include <torch/library.h>
