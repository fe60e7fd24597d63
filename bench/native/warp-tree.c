#include "run.h"

static void warp_tree(int n, const unsigned *restrict in, unsigned *restrict sums) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    unsigned part[256];
    for (int t = 0; t < 256; ++t) part[t] = in[512 * i + t] + in[512 * i + t + 256];
    for (int half = 128; half > 0; half /= 2)
      for (int t = 0; t < half; ++t) part[t] += part[t + half];
    sums[i] = part[0];
  }
}

void run(void *const *b, const double *s) { warp_tree(s[0], b[0], b[1]); }
