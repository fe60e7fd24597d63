#define TILE 256
kernel void nbody(int n, float dt, float softening, global const float4 *restrict position,
                  global const float4 *restrict velocity, global float4 *restrict newPosition,
                  global float4 *restrict newVelocity) {
  local float4 tile[TILE];
  int t = get_local_id(0), i = get_global_id(0);
  float4 me = position[i];
  float ax = 0, ay = 0, az = 0;
  for (int first = 0; first < n; first += TILE) {
    tile[t] = position[first + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < TILE; ++j) {
      float4 other = tile[j];
      float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      float inverse = rsqrt(dx * dx + dy * dy + dz * dz + softening);
      float pull = other.w * inverse * inverse * inverse;
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  float4 v = velocity[i];
  v.xyz += (float3)(ax, ay, az) * dt;
  me.xyz += v.xyz * dt;
  newPosition[i] = me;
  newVelocity[i] = v;
}
