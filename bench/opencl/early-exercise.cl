kernel void early_exercise(int steps, float up, float down, float growth, global const float *restrict price,
                           global const float *restrict strike, global float *restrict value) {
  local float node[256];
  int t = get_local_id(0);
  float spot = price[get_group_id(0)] + growth * (2 * t - steps), worth = strike[get_group_id(0)];
  node[t] = fmax(worth - spot, 0.0f);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int last = steps; last > 0; --last) {
    float next = 0.0f;
    if (t < last) {
      spot += growth;
      next = fmax(up * node[t + 1] + down * node[t], worth - spot);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < last) node[t] = next;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) value[get_group_id(0)] = node[0];
}
