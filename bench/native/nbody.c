#include <math.h>

#include "run.h"

// x, y, z and, of a position, the mass.
struct vector {
  float x, y, z, w;
};

static void nbody(int n, float dt, float softening, const struct vector *restrict position,
                  const struct vector *restrict velocity, struct vector *restrict new_position,
                  struct vector *restrict new_velocity) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    struct vector me = position[i], v = velocity[i];
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; ++j) {
      float dx = position[j].x - me.x, dy = position[j].y - me.y, dz = position[j].z - me.z;
      float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + softening);
      float pull = position[j].w * inverse * inverse * inverse;
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    v.x += ax * dt;
    v.y += ay * dt;
    v.z += az * dt;
    me.x += v.x * dt;
    me.y += v.y * dt;
    me.z += v.z * dt;
    new_position[i] = me;
    new_velocity[i] = v;
  }
}

void run(void *const *b, const double *s) { nbody(s[0], s[1], s[2], b[0], b[1], b[2], b[3]); }
