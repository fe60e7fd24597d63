// Each work item calls, in every round, one of four functions by its address.
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable

__attribute__((noinline)) uint twist(uint a, uint b) { return (a ^ b << 7) * 0x9e3779b1u; }
__attribute__((noinline)) uint shear(uint a, uint b) { return (a >> 3) + (b ^ 0x55u) * 5; }
__attribute__((noinline)) uint blend(uint a, uint b) { return (a & b) + (a | 3u); }
__attribute__((noinline)) uint turn(uint a, uint b) { return (a << 5 | a >> 27) - b; }

kernel void calls_table(uint rounds, global uint *out) {
  uint id = get_global_id(0);
  uint x = id * 2654435761u;
  for (uint i = 0; i < rounds; i++) {
    uint k = (x >> 9) & 3;
    uint (*f)(uint, uint) = k == 0 ? twist : k == 1 ? shear : k == 2 ? blend : turn;
    x = f(x, i + id);
  }
  out[id] = x;
}
