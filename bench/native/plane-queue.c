#include "run.h"

static void plane_queue(int nx, int ny, int nz, float own, float others, const float *restrict in, float *restrict out) {
  int size = nx * ny;
#pragma omp parallel for
  for (int z = 1; z < nz - 1; ++z)
    for (int y = 1; y < ny - 1; ++y)
      for (int x = 1; x < nx - 1; ++x) {
        int at = z * size + y * nx + x;
        float sum = in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + in[at - size] + in[at + size];
        out[at] = own * in[at] + others * sum;
      }
}

void run(void *const *b, const double *s) { plane_queue(s[0], s[1], s[2], s[3], s[4], b[0], b[1]); }
