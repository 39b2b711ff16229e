#pragma once
// The engine's whole public interface.

#include <halfbridge/autocast.h>
#include <halfbridge/autograd.h>
#include <halfbridge/dispatch_key_set.h>
#include <halfbridge/numerics.h>
#include <halfbridge/ops.h>
#include <halfbridge/ops/call_forms.h>
#include <halfbridge/ops/foreach.h>
#include <halfbridge/ops/gradient_out_forms.h>
#include <halfbridge/ops/gradients.h>
#include <halfbridge/ops/out_forms.h>
#include <halfbridge/ops/special_polynomials.h>
#include <halfbridge/tensor.h>
