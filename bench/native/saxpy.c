#include "run.h"

static void saxpy(int n, float a, const float *restrict x, float *restrict y) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

void run(void *const *b, const double *s) { saxpy(s[0], s[1], b[0], b[1]); }
