#pragma once
// Every function of the engine.

#include <halfbridge/indexing.h>
#include <halfbridge/ops/activation.h>
#include <halfbridge/ops/combine.h>
#include <halfbridge/ops/complex.h>
#include <halfbridge/ops/factories.h>
#include <halfbridge/ops/fft.h>
#include <halfbridge/ops/linalg.h>
#include <halfbridge/ops/nn.h>
#include <halfbridge/ops/random.h>
#include <halfbridge/ops/sparse.h>
#include <halfbridge/ops/special.h>
