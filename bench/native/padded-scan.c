#include "run.h"

static void padded_scan(int n, const unsigned *restrict in, unsigned *restrict out) {
#pragma omp parallel for
  for (int run = 0; run < n; ++run) {
    unsigned sum = 0;
    for (int i = 0; i < 512; ++i) {
      out[512 * run + i] = sum;
      sum += in[512 * run + i];
    }
  }
}

void run(void *const *b, const double *s) { padded_scan(s[0], b[0], b[1]); }
