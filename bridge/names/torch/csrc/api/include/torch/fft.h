#pragma once
#include <torch/fft.h>
