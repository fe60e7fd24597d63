#include "run.h"

enum { NODES = 512 };

static void lattice(int n, float up, float down, float step, const float *restrict price, float *restrict value) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    float node[NODES + 1];
    for (int k = 0; k < NODES; ++k) {
      float paid = price[i] + step * (2 * k - NODES);
      node[k] = paid > 0.0f ? paid : 0.0f;
    }
    node[NODES] = 0.0f;
    for (int round = NODES; round > 0; --round)
      for (int k = 0; k < NODES; ++k) node[k] = up * node[k + 1] + down * node[k];
    value[i] = node[0];
  }
}

void run(void *const *b, const double *s) { lattice(s[0], s[1], s[2], s[3], b[0], b[1]); }
