/* The way to the server and back: the socket, the shared memory, the ring of messages, and the slots of answers. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

static struct {
  int socket;
  /* The memory of the device. */
  int arena;
  unsigned char *control;
} link_;

static pthread_mutex_t ring = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t slots = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t slot_is_free = PTHREAD_COND_INITIALIZER;
static unsigned char slot_used[LW_SLOT_COUNT];

static _Thread_local uint32_t thread_number;
static atomic_uint threads;

static uint32_t this_thread(void) {
  if (thread_number == 0) thread_number = atomic_fetch_add(&threads, 1) + 1;
  return thread_number;
}

struct lw_header *lw_header(void) { return (struct lw_header *)link_.control; }

int lw_arena(void) { return link_.arena; }

const char *lw_text(void) { return (const char *)link_.control + LW_TEXT_AT; }

static long futex(uint32_t *word, int what, uint32_t value, const struct timespec *limit) {
  return syscall(SYS_futex, word, what, value, limit, NULL, 0);
}

/* The server has gone: nothing that the program wants of the device can be had any more. */
static _Noreturn void lost(void) {
  fputs("lanewise: the server of this program has ended\n", stderr);
  _exit(3);
}

static void check_server(void) {
  struct pollfd fd = {link_.socket, POLLIN, 0};
  if (poll(&fd, 1, 0) > 0 && (fd.revents & (POLLHUP | POLLERR))) lost();
}

/* Puts a message into the ring, which has room for it, and wakes the server. The ring's lock is held. */
static void put(const struct lw_message_header *message, const void *data, uint32_t bytes, const void *more,
                uint32_t more_bytes) {
  struct lw_header *h = lw_header();
  uint32_t head = h->head;
  unsigned char *base = link_.control + LW_RING_AT;
  uint32_t at = head % LW_RING_BYTES;
  uint32_t left = LW_RING_BYTES - at;
  uint32_t needed = message->size + (left < message->size ? left : 0);
  for (;;) {
    uint32_t tail = atomic_load((_Atomic uint32_t *)&h->tail);
    if (LW_RING_BYTES - (head - tail) >= needed) break;
    struct timespec limit = {0, 20000000};
    futex(&h->tail, FUTEX_WAIT, tail, &limit);
    check_server();
  }
  if (left < message->size) {
    struct lw_message_header pad = {left, LW_PAD, 0, 0};
    memcpy(base + at, &pad, left < sizeof pad ? left : sizeof pad);
    head += left;
    at = 0;
  }
  memcpy(base + at, message, sizeof *message);
  memcpy(base + at + sizeof *message, data, bytes);
  if (more_bytes > 0) memcpy(base + at + sizeof *message + bytes, more, more_bytes);
  atomic_store((_Atomic uint32_t *)&h->head, head + message->size);
  if (atomic_load((_Atomic uint32_t *)&h->sleeping) == 1 && atomic_exchange((_Atomic uint32_t *)&h->sleeping, 0) == 1) {
    if (send(link_.socket, "", 1, MSG_NOSIGNAL) < 0 && errno == EPIPE) lost();
  }
}

static void post(uint32_t index, uint32_t slot, const void *data, uint32_t bytes, const void *more,
                 uint32_t more_bytes) {
  uint32_t size = (uint32_t)(sizeof(struct lw_message_header) + bytes + more_bytes + 15u) & ~15u;
  struct lw_message_header message = {size, index, this_thread(), slot};
  pthread_mutex_lock(&ring);
  put(&message, data, bytes, more, more_bytes);
  pthread_mutex_unlock(&ring);
}

void lw_send(uint32_t index, const void *data, uint32_t bytes, const void *more, uint32_t more_bytes) {
  post(index, 0, data, bytes, more, more_bytes);
}

static uint32_t take_slot(void) {
  pthread_mutex_lock(&slots);
  for (;;) {
    for (uint32_t i = 0; i < LW_SLOT_COUNT; i++) {
      if (slot_used[i]) continue;
      slot_used[i] = 1;
      pthread_mutex_unlock(&slots);
      return i;
    }
    pthread_cond_wait(&slot_is_free, &slots);
  }
}

static void give_slot(uint32_t i) {
  pthread_mutex_lock(&slots);
  slot_used[i] = 0;
  pthread_cond_signal(&slot_is_free);
  pthread_mutex_unlock(&slots);
}

static uint64_t microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* For so long a thread looks for its answer: small kernels are done by then, and being woken takes that long too. */
enum { look_us = 150 };

static void wait_for(struct lw_slot *slot) {
  _Atomic uint32_t *done = (_Atomic uint32_t *)&slot->done;
  static atomic_long processors;
  if (atomic_load(&processors) == 0) atomic_store(&processors, sysconf(_SC_NPROCESSORS_ONLN));
  /* The server cannot answer while the only processor is looking. */
  uint64_t end = atomic_load(&processors) == 1 ? 0 : microseconds() + look_us;
  do {
    for (int i = 0; i < 64; i++) {
      if (atomic_load(done) != 0) return;
      __builtin_ia32_pause();
    }
    /* Where others keep the processors busy, the server may be waiting for this one. */
    sched_yield();
  } while (microseconds() < end);
  uint32_t nothing = 0;
  if (!atomic_compare_exchange_strong(done, &nothing, LW_ASLEEP)) return;
  while (atomic_load(done) == LW_ASLEEP) {
    struct timespec limit = {0, 500000000};
    if (futex(&slot->done, FUTEX_WAIT, LW_ASLEEP, &limit) < 0 && errno == ETIMEDOUT) check_server();
  }
}

struct lw_slot *lw_ask(uint32_t index, const void *data, uint32_t bytes) {
  uint32_t i = take_slot();
  struct lw_slot *slot = (struct lw_slot *)(link_.control + LW_SLOTS_AT + i * LW_SLOT_BYTES);
  atomic_store((_Atomic uint32_t *)&slot->done, 0);
  post(index, i + 1, data, bytes, NULL, 0);
  wait_for(slot);
  return slot;
}

void lw_give_back(struct lw_slot *slot) {
  give_slot((uint32_t)((unsigned char *)slot - (link_.control + LW_SLOTS_AT)) / LW_SLOT_BYTES);
}

/* Receives the descriptors of the control memory and of the device's memory. */
static int receive_descriptors(int socket, int fds[2]) {
  char byte;
  struct iovec part = {&byte, 1};
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(2 * sizeof(int))];
  } room;
  struct msghdr message = {0};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes;
  message.msg_controllen = sizeof room.bytes;
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
  struct cmsghdr *c = CMSG_FIRSTHDR(&message);
  if (c == NULL || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(2 * sizeof(int))) return -1;
  memcpy(fds, CMSG_DATA(c), 2 * sizeof(int));
  return 0;
}

static int map_all(const int fds[2]) {
  link_.control = mmap(NULL, LW_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
  void *arena = mmap((void *)(uintptr_t)LW_ARENA_BASE, LW_ARENA_BYTES, PROT_NONE,
                     MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fds[1], 0);
  close(fds[0]);
  link_.arena = fds[1];
  return link_.control == MAP_FAILED || arena == MAP_FAILED ? -1 : 0;
}

int lw_open_channel(void) {
  const char *path = getenv("LANEWISE_EXEC");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (path == NULL || strlen(path) >= sizeof address.sun_path) return -1;
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
    close(fd);
    return -1;
  }
  struct ucred server = {0};
  socklen_t length = sizeof server;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &server, &length) == 0) {
    prctl(PR_SET_PTRACER, (unsigned long)server.pid, 0, 0, 0);
  }
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  char hello[1024];
  int size = snprintf(hello, sizeof hello, "%d %d %d\n%s", LW_VERSION, getpid(), visible != NULL, visible ? visible : "");
  int fds[2];
  if (size >= (int)sizeof hello || send(fd, hello, (size_t)size, MSG_NOSIGNAL) != size ||
      receive_descriptors(fd, fds) != 0) {
    close(fd);
    return -1;
  }
  link_.socket = fd;
  return map_all(fds);
}

void lw_channel_in_child(void) {
  pthread_mutex_init(&ring, NULL);
  pthread_mutex_init(&slots, NULL);
}
