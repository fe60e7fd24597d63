/*
 * Machine code of kernels: shared libraries that are loaded from descriptors, and calls of them from the threads of
 * Node, whose functions they may ask.
 */
#define _GNU_SOURCE
#include "code.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../old-glibc.h"

__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
__asm__(".symver dlerror, dlerror@GLIBC_2.2.5");
__asm__(".symver pthread_getattr_np, pthread_getattr_np@GLIBC_2.2.5");

enum {
  max_parameters = 8,
  /* What code asks for when it cannot go on: the argument says why. */
  trap_function = -1,
  /* The first of the functions of the host: for a full stack. */
  give_up_function = 0,
  trap_stack = 3,
  /* As deep as V8 lets WebAssembly nest; what lies below is for functions of the host. */
  stack_bytes = 640 << 10,
  stack_reserve = 192 << 10,
  first_rounds = 1 << 16,
};

/* What translated code is given; src/cc/prelude.ts has the same. */
struct instance {
  uint8_t *memory;
  uint64_t (*ask)(struct instance *, uint32_t function, const char *types, uint64_t *arguments);
  char *stack_end;
  uint32_t rounds;
  uint32_t globals[4];
};

/* Code with the memory that it works on and the functions of the host that it may ask. */
struct bound {
  uint32_t (*entry)(struct instance *, uint32_t context, uint32_t from, uint32_t to);
  uint8_t *memory;
  napi_ref functions;
};

/* A call of code. It is left by a jump when a function of the host has thrown, or the code cannot go on. */
struct call {
  struct instance instance;
  napi_env env;
  struct bound *bound;
  jmp_buf leave;
};

static const char *const traps[] = {"unreachable code", "a division by zero", "a call of no function"};

static napi_value function_of(struct call *c, uint32_t number) {
  napi_value functions, function;
  napi_get_reference_value(c->env, c->bound->functions, &functions);
  napi_get_element(c->env, functions, number, &function);
  return function;
}

static void stop(struct call *c, uint64_t why) {
  napi_value none, give_up = function_of(c, give_up_function);
  napi_get_undefined(c->env, &none);
  if (why == trap_stack) napi_call_function(c->env, none, give_up, 0, NULL, &none);
  else napi_throw_error(c->env, NULL, traps[why]);
  longjmp(c->leave, 1);
}

static napi_value value_of(napi_env env, char type, uint64_t bits) {
  napi_value v = NULL;
  float f;
  double d;
  switch (type) {
    case 'i': napi_create_int32(env, (int32_t)bits, &v); break;
    case 'l': napi_create_bigint_int64(env, (int64_t)bits, &v); break;
    case 'f':
      memcpy(&f, &bits, sizeof f);
      napi_create_double(env, (double)f, &v);
      break;
    default:
      memcpy(&d, &bits, sizeof d);
      napi_create_double(env, d, &v);
  }
  return v;
}

static uint64_t bits_of(napi_env env, char type, napi_value v) {
  uint64_t bits = 0;
  int32_t i = 0;
  int64_t l = 0;
  double d = 0;
  float f;
  bool lossless;
  switch (type) {
    case 'i': napi_get_value_int32(env, v, &i); return (uint32_t)i;
    case 'l': napi_get_value_bigint_int64(env, v, &l, &lossless); return (uint64_t)l;
    case 'f':
      napi_get_value_double(env, v, &d);
      f = (float)d;
      memcpy(&bits, &f, sizeof f);
      return bits;
    case 'd':
      napi_get_value_double(env, v, &d);
      memcpy(&bits, &d, sizeof d);
      return bits;
    default: return 0;
  }
}

/* Calls a function of the host. `types`: a letter for each parameter, '>', and one for the result, if there is one. */
static uint64_t ask(struct instance *instance, uint32_t number, const char *types, uint64_t *arguments) {
  struct call *c = (struct call *)instance;
  if ((int32_t)number == trap_function) stop(c, arguments[0]);
  napi_handle_scope scope;
  napi_open_handle_scope(c->env, &scope);
  napi_value function = function_of(c, number), none, result, values[max_parameters];
  size_t count = 0;
  for (; types[count] != '>'; count++) values[count] = value_of(c->env, types[count], arguments[count]);
  napi_get_undefined(c->env, &none);
  int failed = napi_call_function(c->env, none, function, count, values, &result) != napi_ok;
  uint64_t bits = failed ? 0 : bits_of(c->env, types[count + 1], result);
  napi_close_handle_scope(c->env, scope);
  if (failed) longjmp(c->leave, 1);
  return bits;
}

/* Where the stack of this thread ends. */
static char *stack_low(void) {
  static __thread char *low;
  pthread_attr_t attributes;
  void *address;
  size_t size;
  if (low == NULL && pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &address, &size);
    pthread_attr_destroy(&attributes);
    low = address;
  }
  return low;
}

/* loadCode(bytes): the address of a library's function `run`; throws if there is none. */
napi_value do_load_code(napi_env env, napi_callback_info info) {
  napi_value argv[1], result = NULL, buffer;
  size_t count = 1, length = 0, offset;
  void *bytes = NULL;
  napi_typedarray_type type;
  struct rlimit space;
  napi_get_cb_info(env, info, &count, argv, NULL, NULL);
  napi_get_typedarray_info(env, argv[0], &type, &length, &bytes, &buffer, &offset);
  /* V8 may then move the memory of WebAssembly when it grows. */
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    napi_throw_error(env, NULL, "the address space of the process is limited");
    return NULL;
  }
  int fd = (int)syscall(SYS_memfd_create, "lanewise-kernel", 1u /* MFD_CLOEXEC */);
  for (size_t done = 0; fd >= 0 && done < length;) {
    ssize_t n = write(fd, (char *)bytes + done, length - done);
    if (n < 0) break;
    done += (size_t)n;
  }
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  void *library = fd < 0 ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *run = library == NULL ? NULL : dlsym(library, "run");
  const char *why = fd < 0 ? strerror(errno) : run == NULL ? dlerror() : NULL;
  /* The linker knows libraries by their paths: the descriptor stays open, so that no other gets this one. */
  if (fd >= 0 && library == NULL) close(fd);
  if (run == NULL) napi_throw_error(env, NULL, why);
  else napi_create_int64(env, (int64_t)(intptr_t)run, &result);
  return result;
}

/* (context, from, to): what the code returns. */
static napi_value run_code(napi_env env, napi_callback_info info) {
  napi_value argv[3], result;
  size_t count = 3;
  uint32_t numbers[3] = {0};
  void *data;
  napi_get_cb_info(env, info, &count, argv, NULL, &data);
  for (int i = 0; i < 3; i++) napi_get_value_uint32(env, argv[i], &numbers[i]);
  struct call c;
  c.env = env;
  c.bound = data;
  char *here = __builtin_frame_address(0), *low = stack_low() + stack_reserve;
  c.instance = (struct instance){.memory = c.bound->memory, .ask = ask, .rounds = first_rounds};
  c.instance.stack_end = here - low < stack_bytes ? low : here - stack_bytes;
  if (setjmp(c.leave)) return NULL;
  uint32_t end = c.bound->entry(&c.instance, numbers[0], numbers[1], numbers[2]);
  napi_create_uint32(env, end, &result);
  return result;
}

static void free_bound(napi_env env, void *data, void *hint) {
  (void)hint;
  napi_delete_reference(env, ((struct bound *)data)->functions);
  free(data);
}

/*
 * bindCode(entry, memory, functions): a function that runs the code. Of the functions of the host, the first is called
 * where the stack is full, the second from time to time; then come those that the code imports. A memory that grows
 * stays where it is.
 */
napi_value do_bind_code(napi_env env, napi_callback_info info) {
  napi_value argv[3], result;
  size_t count = 3;
  int64_t entry = 0;
  void *memory = NULL;
  struct bound *bound = malloc(sizeof *bound);
  napi_get_cb_info(env, info, &count, argv, NULL, NULL);
  napi_get_value_int64(env, argv[0], &entry);
  napi_get_typedarray_info(env, argv[1], NULL, NULL, &memory, NULL, NULL);
  bound->entry = (uint32_t(*)(struct instance *, uint32_t, uint32_t, uint32_t))(intptr_t)entry;
  bound->memory = memory;
  napi_create_reference(env, argv[2], 1, &bound->functions);
  napi_create_function(env, "run", NAPI_AUTO_LENGTH, run_code, bound, &result);
  napi_add_finalizer(env, result, bound, free_bound, NULL, NULL);
  return result;
}
