#include "run.h"

typedef unsigned (*Step)(unsigned, unsigned);

static unsigned mix(unsigned x, unsigned y) { return (x ^ x >> 15) * 0x2c1b3c6du + y; }
static unsigned weigh(unsigned x, unsigned y) { return x * 3u + (y ^ x >> 7); }
static unsigned larger(unsigned x, unsigned y) { return x > y ? x - y : y - x; }
static unsigned turn(unsigned x, unsigned y) { return (x << 5 | x >> 27) ^ y; }

static const Step steps[4] = {mix, weigh, larger, turn};

static void indirect(int n, const unsigned *restrict selector, const unsigned *restrict x, const unsigned *restrict y,
                     unsigned *restrict out) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) out[i] = steps[selector[i]](x[i], y[i]);
}

void run(void *const *b, const double *s) { indirect(s[0], b[0], b[1], b[2], b[3]); }
