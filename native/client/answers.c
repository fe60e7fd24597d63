/* Calls that are answered: what an answer asks for is done before its value is returned. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "client.h"
#include "../old-glibc.h"

enum { error_invalid_value = 1 };

/* The thread that runs what cudaLaunchHostFunc and its like were given. */
struct callback {
  /* 0: function(data), 1: function(stream, status, data), 2: the program is to end the thread,
     3: function(data, status, message, its length) */
  uint64_t kind;
  uint64_t function;
  uint64_t data;
  uint64_t stream;
  uint64_t status;
  char message[LW_MESSAGE_BYTES];
};

static void *run_callbacks(void *unused) {
  (void)unused;
  for (;;) {
    struct callback call = {0};
    uint64_t words[LW_CALL_WORDS] = {(uint64_t)(uintptr_t)&call};
    lw_request(LW_CALLBACK, words, sizeof words);
    if (call.kind == 2) return NULL;
    void *data = (void *)(uintptr_t)call.data;
    if (call.kind == 0) {
      ((void (*)(void *))(uintptr_t)call.function)(data);
    } else if (call.kind == 3) {
      ((void (*)(void *, int, char *, size_t))(uintptr_t)call.function)(data, (int)call.status, call.message,
                                                                        strlen(call.message));
    } else {
      ((void (*)(void *, int, void *))(uintptr_t)call.function)((void *)(uintptr_t)call.stream, (int)call.status, data);
    }
  }
}

static void start_callbacks(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static int started;
  pthread_mutex_lock(&lock);
  pthread_t thread;
  if (!started && pthread_create(&thread, NULL, run_callbacks, NULL) == 0) {
    started = 1;
    pthread_detach(thread);
  }
  pthread_mutex_unlock(&lock);
}

static void protect(uint64_t address, uint64_t bytes, int protection) {
  uint64_t from = address & ~4095ull;
  uint64_t to = (address + bytes + 4095) & ~4095ull;
  mprotect((void *)(uintptr_t)from, to - from, protection);
}

/* Returns the error that the call is to return on account of it, or 0. */
static uint64_t perform(const struct lw_item *item) {
  const void *data = item + 1;
  const uint64_t *words = data;
  void *place = (void *)(uintptr_t)item->address;
  switch (item->kind) {
    case LW_POKE: memcpy(place, data, item->bytes); break;
    case LW_PRINT:
      fwrite(lw_text(), 1, (size_t)item->address, stdout);
      atomic_store((_Atomic uint32_t *)&lw_header()->text_busy, 0);
      break;
    case LW_LEARN: lw_learn(item->address, data, item->bytes); break;
    case LW_FORGET: lw_forget(item->address); break;
    case LW_OPEN: protect(item->address, words[0], PROT_READ | PROT_WRITE); break;
    case LW_READ_ONLY: protect(item->address, words[0], PROT_READ); break;
    case LW_CLOSE: protect(item->address, words[0], PROT_NONE); break;
    case LW_ADOPT: lw_adopt(place, words[0], words[1]); break;
    case LW_GIVE_BACK: lw_return_pages(place, words[0]); break;
    case LW_UPLOAD:
    case LW_DOWNLOAD:
      if (lw_copy(place, words[0], words[1], item->kind == LW_UPLOAD) != 0) return error_invalid_value;
      break;
    case LW_CALLBACKS: start_callbacks(); break;
    case LW_WARN: fwrite(data, 1, item->bytes, stderr); break;
    default: break;
  }
  return 0;
}

uint64_t lw_request(uint32_t index, const void *data, uint32_t bytes) {
  struct lw_slot *slot = lw_ask(index, data, bytes);
  uint64_t result = slot->result;
  const unsigned char *items = (const unsigned char *)(slot + 1);
  for (uint32_t at = 0; at < slot->bytes;) {
    const struct lw_item *item = (const struct lw_item *)(items + at);
    uint64_t error = perform(item);
    if (result == 0) result = error;
    at += (uint32_t)sizeof *item + ((item->bytes + 7u) & ~7u);
  }
  lw_give_back(slot);
  return result;
}
