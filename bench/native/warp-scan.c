#include "run.h"

static void warp_scan(int blocks, const int *restrict in, int *restrict out, int *restrict sums) {
#pragma omp parallel for
  for (int block = 0; block < blocks; ++block) {
    int sum = 0;
    for (int i = 256 * block; i < 256 * (block + 1); ++i) out[i] = sum += in[i];
    sums[block] = sum;
  }
}

void run(void *const *b, const double *s) { warp_scan(s[0], b[0], b[1], b[2]); }
