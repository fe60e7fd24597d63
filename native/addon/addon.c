/*
 * What the server needs of the system and Node does not have: shared memory, also under the memory of WebAssembly,
 * descriptors that are passed on, and the memory of the program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "code.h"
#include "guard.h"
#include "node-api.h"

enum { max_arguments = 6 };

static int arguments(napi_env env, napi_callback_info info, napi_value *out) {
  size_t count = max_arguments;
  return napi_get_cb_info(env, info, &count, out, NULL, NULL) == napi_ok ? 0 : -1;
}

static int64_t integer(napi_env env, napi_value v) {
  int64_t n = 0;
  napi_get_value_int64(env, v, &n);
  return n;
}

static uint64_t address(napi_env env, napi_value v) {
  uint64_t n = 0;
  bool lossless;
  napi_get_value_bigint_uint64(env, v, &n, &lossless);
  return n;
}

/* The bytes of a typed array. */
static unsigned char *bytes_of(napi_env env, napi_value v, size_t *length) {
  void *data = NULL;
  napi_typedarray_type type;
  size_t offset;
  napi_value buffer;
  if (napi_get_typedarray_info(env, v, &type, length, &data, &buffer, &offset) != napi_ok) return NULL;
  if (type == napi_int32_array) *length *= 4;
  return data;
}

static napi_value number(napi_env env, int64_t n) {
  napi_value v;
  napi_create_int64(env, n, &v);
  return v;
}

/* listen(path): a socket that programs connect to; negative: -errno. */
static napi_value do_listen(napi_env env, napi_callback_info info) {
  napi_value argv[max_arguments];
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  size_t length;
  arguments(env, info, argv);
  napi_get_value_string_utf8(env, argv[0], name.sun_path, sizeof name.sun_path, &length);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof name) != 0 || listen(fd, 64) != 0) return number(env, -errno);
  return number(env, fd);
}

/* accept(fd): the socket of a program, or negative. */
static napi_value do_accept(napi_env env, napi_callback_info info) {
  napi_value argv[max_arguments];
  arguments(env, info, argv);
  int fd = accept4((int)integer(env, argv[0]), NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  return number(env, fd < 0 ? -errno : fd);
}

/* peer(fd): the process at the other end. */
static napi_value do_peer(napi_env env, napi_callback_info info) {
  napi_value argv[max_arguments];
  arguments(env, info, argv);
  struct ucred who = {0};
  socklen_t length = sizeof who;
  getsockopt((int)integer(env, argv[0]), SOL_SOCKET, SO_PEERCRED, &who, &length);
  return number(env, who.pid);
}

/* receive(fd, bytes): how many have come; 0: the other end has closed; negative: -errno. */
static napi_value do_receive(napi_env env, napi_callback_info info) {
  napi_value argv[max_arguments];
  arguments(env, info, argv);
  size_t length = 0;
  unsigned char *into = bytes_of(env, argv[1], &length);
  ssize_t got = recv((int)integer(env, argv[0]), into, length, MSG_DONTWAIT);
  return number(env, got < 0 ? -errno : got);
}

/* sendDescriptors(fd, first, second) */
static napi_value do_send_descriptors(napi_env env, napi_callback_info info) {
  napi_value argv[max_arguments];
  arguments(env, info, argv);
  int fds[2] = {(int)integer(env, argv[1]), (int)integer(env, argv[2])};
  char byte = 1;
  struct iovec part = {&byte, 1};
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof fds)];
  } room = {{0}};
  struct msghdr message = {0};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes;
  message.msg_controllen = sizeof room.bytes;
  struct cmsghdr *c = CMSG_FIRSTHDR(&message);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof fds);
  memcpy(CMSG_DATA(c), fds, sizeof fds);
  return number(env, sendmsg((int)integer(env, argv[0]), &message, MSG_NOSIGNAL) < 0 ? -errno : 0);
}

/* memory(bytes): a descriptor of new memory. */
static napi_value do_memory(napi_env env, napi_callback_info info) {
  napi_value argv[max_arguments];
  arguments(env, info, argv);
  int fd = (int)syscall(SYS_memfd_create, "lanewise", 1u /* MFD_CLOEXEC */);
  if (fd < 0 || ftruncate(fd, integer(env, argv[0])) != 0) return number(env, -errno);
  return number(env, fd);
}

static void unmap(napi_env env, void *data, void *size) {
  (void)env;
  munmap(data, (size_t)(uintptr_t)size);
}

/* map(fd, bytes): an ArrayBuffer; undefined if that fails. */
static napi_value do_map(napi_env env, napi_callback_info info) {
  napi_value argv[max_arguments];
  arguments(env, info, argv);
  size_t bytes = (size_t)integer(env, argv[1]);
  void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, (int)integer(env, argv[0]), 0);
  napi_value buffer = NULL;
  if (data == MAP_FAILED) return NULL;
  napi_create_external_arraybuffer(env, data, bytes, unmap, (void *)(uintptr_t)bytes, &buffer);
  return buffer;
}

/* mapOver(bytes, from, to, fd): puts shared memory under a range of them. 0, or -errno. */
static napi_value do_map_over(napi_env env, napi_callback_info info) {
  napi_value argv[max_arguments];
  arguments(env, info, argv);
  size_t length = 0;
  unsigned char *data = bytes_of(env, argv[0], &length);
  int64_t from = integer(env, argv[1]), to = integer(env, argv[2]);
  if (data == NULL || from < 0 || from > to || (size_t)to > length) return number(env, -EINVAL);
  void *got = mmap(data + from, (size_t)(to - from), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                   (int)integer(env, argv[3]), from);
  return number(env, got == MAP_FAILED ? -errno : 0);
}

/*
 * largePages(bytes): lets the system keep memory in pages of two megabytes, where it has such and leaves that to
 * programs. What is read or written of it before keeps the pages that it has.
 */
static napi_value do_large_pages(napi_env env, napi_callback_info info) {
  napi_value argv[max_arguments];
  arguments(env, info, argv);
  size_t length = 0;
  unsigned char *data = bytes_of(env, argv[0], &length);
  if (data == NULL) return number(env, -EINVAL);
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t from = ((uintptr_t)data + page - 1) / page * page, to = ((uintptr_t)data + length) / page * page;
  if (from >= to) return number(env, 0);
  return number(env, madvise((void *)from, to - from, MADV_HUGEPAGE) == 0 ? 0 : -errno);
}

/* release(fd, from, bytes): gives the pages back to the system; they read as zeros. */
static napi_value do_release(napi_env env, napi_callback_info info) {
  napi_value argv[max_arguments];
  arguments(env, info, argv);
  int failed = (int)syscall(SYS_fallocate, (int)integer(env, argv[0]), 3 /* PUNCH_HOLE | KEEP_SIZE */,
                            integer(env, argv[1]), integer(env, argv[2]));
  return number(env, failed ? -errno : 0);
}

/* poll(fds, ready, milliseconds): how many are ready; both are Int32Arrays of one length. */
static napi_value do_poll(napi_env env, napi_callback_info info) {
  napi_value argv[max_arguments];
  arguments(env, info, argv);
  size_t length = 0, ready_length = 0;
  const int32_t *fds = (const int32_t *)(const void *)bytes_of(env, argv[0], &length);
  int32_t *ready = (int32_t *)(void *)bytes_of(env, argv[1], &ready_length);
  struct pollfd list[1024];
  size_t count = length / 4;
  if (count > 1024 || ready_length < length) return number(env, -EINVAL);
  for (size_t i = 0; i < count; i++) list[i] = (struct pollfd){fds[i], POLLIN, 0};
  int found = poll(list, count, (int)integer(env, argv[2]));
  for (size_t i = 0; i < count; i++) ready[i] = list[i].revents;
  return number(env, found < 0 ? -errno : found);
}

/* loopDescriptor(): is ready when Node's own loop has something to do. */
static napi_value do_loop_descriptor(napi_env env, napi_callback_info info) {
  (void)info;
  struct uv_loop_s *loop = NULL;
  if (napi_get_uv_event_loop(env, &loop) != napi_ok) return number(env, -EINVAL);
  return number(env, uv_backend_fd(loop));
}

/* yield(): lets other threads that wait for this processor go first. */
static napi_value do_yield(napi_env env, napi_callback_info info) {
  (void)info;
  sched_yield();
  return number(env, 0);
}

/* wake(words, index): wakes all who wait for a word of an Int32Array. */
static napi_value do_wake(napi_env env, napi_callback_info info) {
  napi_value argv[max_arguments];
  arguments(env, info, argv);
  size_t length = 0;
  unsigned char *words = bytes_of(env, argv[0], &length);
  syscall(SYS_futex, words + 4 * integer(env, argv[1]), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
  return NULL;
}

typedef ssize_t mover(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);

/* (pid, address, bytes, from, length): copies between a range of bytes and the process; how many, or -errno. */
static napi_value move(napi_env env, napi_callback_info info, mover *how) {
  napi_value argv[max_arguments];
  arguments(env, info, argv);
  size_t length = 0;
  unsigned char *data = bytes_of(env, argv[2], &length);
  int64_t from = integer(env, argv[3]), size = integer(env, argv[4]);
  if (data == NULL || from < 0 || size < 0 || (uint64_t)from + (uint64_t)size > length) return number(env, -EINVAL);
  pid_t pid = (pid_t)integer(env, argv[0]);
  uint64_t at = address(env, argv[1]);
  for (int64_t done = 0; done < size;) {
    struct iovec here = {data + from + done, (size_t)(size - done)};
    struct iovec there = {(void *)(uintptr_t)(at + (uint64_t)done), (size_t)(size - done)};
    ssize_t n = how(pid, &here, 1, &there, 1, 0);
    if (n <= 0) return number(env, done > 0 ? done : n < 0 ? -errno : 0);
    done += n;
  }
  return number(env, size);
}

static napi_value do_read(napi_env env, napi_callback_info info) { return move(env, info, process_vm_readv); }

static napi_value do_write(napi_env env, napi_callback_info info) { return move(env, info, process_vm_writev); }

/* close(fd) */
static napi_value do_close(napi_env env, napi_callback_info info) {
  napi_value argv[max_arguments];
  arguments(env, info, argv);
  close((int)integer(env, argv[0]));
  return NULL;
}

/* processDescriptor(pid): is ready when the process has ended; negative where the system has none. */
static napi_value do_process_descriptor(napi_env env, napi_callback_info info) {
  napi_value argv[max_arguments];
  arguments(env, info, argv);
  int fd = (int)syscall(434 /* pidfd_open */, (pid_t)integer(env, argv[0]), 0u);
  return number(env, fd < 0 ? -errno : fd);
}

/* end(status): ends the process. Node's own way waits for all threads of V8, which may be optimizing code. */
static napi_value do_end(napi_env env, napi_callback_info info) {
  napi_value argv[max_arguments];
  arguments(env, info, argv);
  _exit((int)integer(env, argv[0]));
}

/* guard(pid, path): see guard.h. */
static napi_value do_guard(napi_env env, napi_callback_info info) {
  napi_value argv[max_arguments];
  char path[512];
  size_t length;
  arguments(env, info, argv);
  napi_get_value_string_utf8(env, argv[1], path, sizeof path, &length);
  return number(env, guard_begin((int)integer(env, argv[0]), path));
}

/* note(list, entry): see guard.h. */
static napi_value do_note(napi_env env, napi_callback_info info) {
  napi_value argv[max_arguments];
  size_t length;
  arguments(env, info, argv);
  if (napi_get_value_string_utf8(env, argv[1], NULL, 0, &length) != napi_ok) return number(env, -EINVAL);
  char *entry = malloc(length + 1);
  if (entry == NULL) return number(env, -ENOMEM);
  napi_get_value_string_utf8(env, argv[1], entry, length + 1, &length);
  int result = guard_note((int)integer(env, argv[0]), entry, length);
  free(entry);
  return number(env, result);
}

static napi_value do_unguard(napi_env env, napi_callback_info info) {
  (void)env;
  (void)info;
  guard_end();
  return NULL;
}

__attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  static const struct {
    const char *name;
    napi_callback function;
  } functions[] = {
      {"listen", do_listen}, {"accept", do_accept},   {"peer", do_peer},       {"receive", do_receive},
      {"memory", do_memory}, {"map", do_map},         {"mapOver", do_map_over}, {"release", do_release},
      {"largePages", do_large_pages},
      {"poll", do_poll},     {"wake", do_wake},       {"read", do_read},       {"write", do_write},
      {"close", do_close},   {"sendDescriptors", do_send_descriptors}, {"processDescriptor", do_process_descriptor},
      {"loopDescriptor", do_loop_descriptor}, {"guard", do_guard}, {"note", do_note}, {"unguard", do_unguard}, {"end", do_end},
      {"loadCode", do_load_code}, {"bindCode", do_bind_code}, {"yield", do_yield},
  };
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    napi_value function;
    napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].function, NULL, &function);
    napi_set_named_property(env, exports, functions[i].name, function);
  }
  return exports;
}
