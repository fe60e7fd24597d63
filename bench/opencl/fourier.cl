#define POINTS 256
kernel void fourier(global const float2 *restrict in, global float2 *restrict out) {
  local float2 values[2][POINTS];
  int t = get_local_id(0), pairs = POINTS / 2, base = get_group_id(0) * POINTS, from = 0;
  values[0][t] = in[base + t];
  values[0][t + pairs] = in[base + t + pairs];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int size = 1; size < POINTS; size *= 2, from = 1 - from) {
    int k = t & (size - 1), to = 2 * (t - k) + k;
    float angle = -3.14159265f * k / size, sine = native_sin(angle), cosine = native_cos(angle);
    float2 a = values[from][t], b = values[from][t + pairs];
    float2 turned = (float2)(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
    values[1 - from][to] = a + turned;
    values[1 - from][to + size] = a - turned;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[base + t] = values[from][t];
  out[base + t + pairs] = values[from][t + pairs];
}
