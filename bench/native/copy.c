#include "run.h"

static void copy(int n, const double *restrict a, double *restrict c) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) c[i] = a[i];
}

void run(void *const *b, const double *s) { copy(s[0], b[0], b[1]); }
