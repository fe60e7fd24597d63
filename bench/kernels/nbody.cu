// One step of all pairs under softened gravity; the bodies (x, y, z, mass) pass by in tiles, one body a thread
#define TILE 256
extern "C" __global__ void nbody(int n, float dt, float softening, const float4 *__restrict__ position,
                                 const float4 *__restrict__ velocity, float4 *__restrict__ newPosition,
                                 float4 *__restrict__ newVelocity) {
  __shared__ float4 tile[TILE];
  int i = blockIdx.x * TILE + threadIdx.x;
  float4 me = position[i];
  float ax = 0, ay = 0, az = 0;
  for (int first = 0; first < n; first += TILE) {
    tile[threadIdx.x] = position[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < TILE; ++j) {
      float4 other = tile[j];
      float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
      float pull = other.w * inverse * inverse * inverse;
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    __syncthreads();
  }
  float4 v = velocity[i];
  v.x += ax * dt;
  v.y += ay * dt;
  v.z += az * dt;
  me.x += v.x * dt;
  me.y += v.y * dt;
  me.z += v.z * dt;
  newPosition[i] = me;
  newVelocity[i] = v;
}
