#include "run.h"

static void chosen_pointer(int n, const int *restrict choice, const float *restrict a, const float *restrict b,
                           float *restrict out) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    const float *table = i & 1 ? b : a;
    out[i] = (choice[i] > 0 ? a : b)[i] * table[255 - i % 256];
  }
}

void run(void *const *b, const double *s) { chosen_pointer(s[0], b[0], b[1], b[2], b[3]); }
