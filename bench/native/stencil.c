#include <string.h>

#include "run.h"

static void stencil(int n, const float *restrict in, float *restrict out) {
  memcpy(out, in, sizeof *out * n);
#pragma omp parallel for
  for (int y = 1; y < n - 1; ++y) {
    const float *row = in + y * n;
    out[y * n] = row[0];
    for (int x = 1; x < n - 1; ++x)
      out[y * n + x] = 0.5f * row[x] + 0.125f * (row[x - 1] + row[x + 1] + row[x - n] + row[x + n]);
    out[y * n + n - 1] = row[n - 1];
  }
  memcpy(out + (n - 1) * n, in + (n - 1) * n, sizeof *out * n);
}

void run(void *const *b, const double *s) { stencil(s[0], b[0], b[1]); }
