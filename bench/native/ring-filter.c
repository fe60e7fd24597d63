#include "run.h"

static void ring_filter(int n, const float *restrict x, const float *restrict taps, float *restrict y) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    float sum = 0.0f;
    for (int k = 0; k < 16; ++k) sum += taps[k] * x[(i - k) & (n - 1)];
    y[i] = sum;
  }
}

void run(void *const *b, const double *s) { ring_filter(s[0], b[0], b[1], b[2]); }
