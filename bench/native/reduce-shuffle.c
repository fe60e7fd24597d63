#include "run.h"

static unsigned sum_of(int n, const unsigned *in) {
  unsigned sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += in[i];
  return sum;
}

void run(void *const *b, const double *s) { *(unsigned *)b[1] = sum_of(s[0], b[0]); }
