#pragma once
#include "../plan.h"

// The whole computation once. Each file beside this one defines it for one kernel; buffers and sizes are in the order
// of the plan.
void run(void *const *buffers, const double *sizes);
