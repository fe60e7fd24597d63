#include "run.h"

static void spmv(int rows, const int *restrict start, const int *restrict column, const float *restrict value,
                 const float *restrict x, float *restrict y) {
#pragma omp parallel for
  for (int row = 0; row < rows; ++row) {
    float sum = 0;
    for (int i = start[row]; i < start[row + 1]; ++i) sum += value[i] * x[column[i]];
    y[row] = sum;
  }
}

void run(void *const *b, const double *s) { spmv(s[0], b[0], b[1], b[2], b[3], b[4]); }
