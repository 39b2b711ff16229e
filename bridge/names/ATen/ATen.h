#pragma once
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <c10/names.h>
#include <torch/std_includes.h>
