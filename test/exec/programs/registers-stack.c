// Registers numbers on the stack of the function that does so, has the device set one, and unregisters them. Prints what
// the calls return, the numbers before and after, and what the functions have returned that were running meanwhile.
#include <dlfcn.h>
#include <stdio.h>

typedef int function();
static void *driver;
static function *of(const char *name) { return (function *)dlsym(driver, name); }

static int set(unsigned value) {
  unsigned numbers[3] = {1, 2, 3};
  unsigned long long on_device;
  int status = of("cuMemHostRegister_v2")(&numbers[1], sizeof numbers[1], 2);
  status += of("cuMemHostGetDevicePointer_v2")(&on_device, &numbers[1], 0);
  status += of("cuMemsetD32_v2")(on_device, value, 1L);
  printf("%u %u %u ", numbers[0], numbers[1], numbers[2]);
  status += of("cuMemHostUnregister")(&numbers[1]);
  printf("%u %d\n", numbers[1], status);
  return numbers[1] == value;
}

int main(void) {
  void *context;
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  of("cuInit")(0);
  of("cuDevicePrimaryCtxRetain")(&context, 0);
  of("cuCtxSetCurrent")(context);
  int right = 0;
  for (unsigned i = 7; i < 10; i++) right += set(i);
  printf("%d\n", right);
}
