#include "run.h"

static void tile_lu(int n, const float *restrict in, float *restrict out) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    float (*tile)[16] = (float (*)[16])(out + 256 * i);
    for (int k = 0; k < 256; ++k) tile[0][k] = in[256 * i + k];
    for (int k = 0; k < 15; ++k) {
      for (int t = k + 1; t < 16; ++t) {
        for (int j = 0; j < k; ++j) tile[t][k] -= tile[t][j] * tile[j][k];
        tile[t][k] /= tile[k][k];
      }
      for (int j = 0; j <= k; ++j)
        for (int t = k + 1; t < 16; ++t) tile[k + 1][t] -= tile[k + 1][j] * tile[j][t];
    }
  }
}

void run(void *const *b, const double *s) { tile_lu(s[0], b[0], b[1]); }
