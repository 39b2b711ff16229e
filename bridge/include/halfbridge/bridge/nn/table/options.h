#pragma once
// Options that several rows of modules.def and functions.def share; each text begins with a space, so that they join.

#define HB_OPTIONS_CONV_SIZES " in_channels out_channels kernel_size"
#define HB_OPTIONS_CONV " stride=1|2|3 padding=0|1|2|3|same dilation=1|2|3 groups=1|2"
#define HB_OPTIONS_CONV_LAST " bias=true padding_mode=zeros|reflect|replicate|circular"
#define HB_OPTIONS_TRANSPOSE " stride=1|2 padding=0|1|2 output_padding=0|1 groups=1|2 dilation=1|2"
#define HB_OPTIONS_MAX_POOL " kernel_size stride padding=0|1|2 dilation=1|2 ceil_mode=false|true"
#define HB_OPTIONS_AVG_POOL \
  " kernel_size stride padding=0|1|2 ceil_mode=false|true count_include_pad=true|false divisor_override"
#define HB_OPTIONS_LP_POOL " norm_type kernel_size stride ceil_mode=false|true"
#define HB_OPTIONS_EPS " eps~1e-5|1e-3|1e-6|1e-12|1e-8|1e-4|1e-2|0"
#define HB_OPTIONS_MOMENTUM " momentum~0.1|0.01|0.9|0.99"
#define HB_OPTIONS_REDUCTION " reduction=mean|sum|none"
#define HB_OPTIONS_UPSAMPLE \
  " size=None scale_factor=None mode=nearest|bilinear|bicubic|linear|trilinear align_corners=false|true"
#define HB_OPTIONS_RNN_SIZES " input_size hidden_size"
#define HB_OPTIONS_RNN_LAST " bias=true batch_first=false|true dropout=0 bidirectional=false"
