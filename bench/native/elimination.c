#include "run.h"

static void column(int n, int k, float *restrict a, float *restrict m) {
  for (int y = k + 1; y < n; ++y) m[y] = a[y * n + k] / a[k * n + k];
  for (int y = k + 1; y < n; ++y)
    for (int x = k; x < n; ++x) a[y * n + x] -= m[y] * a[k * n + x];
}

void run(void *const *b, const double *s) {
  for (int k = 0; k < s[0] - 1; ++k) column(s[0], k, b[0], b[1]);
}
