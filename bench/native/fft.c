#include "run.h"

enum { POINTS = 256, BITS = 8 };

struct complex {
  float re, im;
};

static int reversed(int i) {
  int r = 0;
  for (int bit = 0; bit < BITS; ++bit) r |= (i >> bit & 1) << (BITS - 1 - bit);
  return r;
}

static void fft(int n, const struct complex *restrict in, const struct complex *restrict twiddles,
                struct complex *restrict out) {
  int place[POINTS];
  for (int i = 0; i < POINTS; ++i) place[i] = reversed(i);
#pragma omp parallel for
  for (int transform = 0; transform < n; ++transform) {
    const struct complex *from = in + POINTS * transform;
    struct complex *restrict data = out + POINTS * transform;
    for (int i = 0; i < POINTS; ++i) data[i] = from[place[i]];
    for (int half = 1; half < POINTS; half *= 2)
      for (int base = 0; base < POINTS; base += 2 * half)
        for (int k = 0; k < half; ++k) {
          struct complex w = twiddles[k * (POINTS / 2 / half)], a = data[base + k], b = data[base + half + k];
          float re = b.re * w.re - b.im * w.im, im = b.re * w.im + b.im * w.re;
          data[base + k] = (struct complex){a.re + re, a.im + im};
          data[base + half + k] = (struct complex){a.re - re, a.im - im};
        }
  }
}

void run(void *const *b, const double *s) { fft(s[0], b[0], b[1], b[2]); }
