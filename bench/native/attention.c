#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

enum { WIDTH = 64 };

// In f32: halves are widened once, and keys are transposed meanwhile, so that gcc can use vectors. One row of scores is
// held at a time, which needs no online softmax.
static void attention(int n, const _Float16 *restrict Q, const _Float16 *restrict K, const _Float16 *restrict V,
                      float *restrict O) {
  float *restrict k = malloc(sizeof *k * n * WIDTH), *restrict v = malloc(sizeof *v * n * WIDTH);
  for (int key = 0; key < n; ++key)
    for (int i = 0; i < WIDTH; ++i) {
      k[i * n + key] = K[key * WIDTH + i];
      v[key * WIDTH + i] = V[key * WIDTH + i];
    }
#pragma omp parallel for
  for (int row = 0; row < n; ++row) {
    float *restrict score = malloc(sizeof *score * n), *restrict out = O + row * WIDTH;
    memset(score, 0, sizeof *score * n);
    for (int i = 0; i < WIDTH; ++i) {
      const float q = (float)Q[row * WIDTH + i] * 0.125f * 1.44269504f;
      for (int key = 0; key < n; ++key) score[key] += q * k[i * n + key];
    }
    float most = -1e30f, sum = 0;
    for (int key = 0; key < n; ++key) most = score[key] > most ? score[key] : most;
    for (int key = 0; key < n; ++key) sum += score[key] = exp2f(score[key] - most);
    memset(out, 0, sizeof *out * WIDTH);
    for (int key = 0; key < n; ++key)
      for (int i = 0; i < WIDTH; ++i) out[i] += score[key] * v[key * WIDTH + i];
    for (int i = 0; i < WIDTH; ++i) out[i] /= sum;
    free(score);
  }
  free(k);
  free(v);
}

void run(void *const *b, const double *s) { attention(s[0], b[0], b[1], b[2], b[3]); }
