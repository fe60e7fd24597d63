// Each work item calls one function again and again.
__attribute__((noinline)) uint mix_bits(uint a, uint b) {
  a ^= b << 7;
  a *= 0x9e3779b1u;
  return a ^ (a >> 15);
}

kernel void calls_direct(uint rounds, global uint *out) {
  uint id = get_global_id(0);
  uint x = id;
  for (uint i = 0; i < rounds; i++) x = mix_bits(x, i + id);
  out[id] = x;
}
