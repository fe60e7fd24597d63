#include "run.h"

enum { TILE = 32 };

static void transpose(int n, const float *restrict in, float *restrict out) {
#pragma omp parallel for
  for (int y0 = 0; y0 < n; y0 += TILE)
    for (int x0 = 0; x0 < n; x0 += TILE)
      for (int x = x0; x < x0 + TILE; ++x)
        for (int y = y0; y < y0 + TILE; ++y) out[x * n + y] = in[y * n + x];
}

void run(void *const *b, const double *s) { transpose(s[0], b[0], b[1]); }
