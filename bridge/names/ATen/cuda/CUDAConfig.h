#pragma once
#include <ATen/ATen.h>
#include <c10/cuda/names.h>
