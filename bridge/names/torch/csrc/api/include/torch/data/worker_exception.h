#pragma once
#include <torch/data/worker_exception.h>
