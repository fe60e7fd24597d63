// Fibonacci numbers by two recursive calls.
__attribute__((noinline)) uint fib(uint n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

kernel void calls_recursion(uint n, global uint *out) {
  uint id = get_global_id(0);
  out[id] = fib(n + id % 3);
}
