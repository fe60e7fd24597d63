/* The client library inside of the CUDA program: one connection to the server, and calls through it. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

/* An entry point of the CUDA runtime or driver. `index` in the tables is its number in messages. */
struct lw_entry {
  const char *name;
  void *function;
};

/* Generated: the runtime's names, then the driver's. */
extern const struct lw_entry lw_entries[];
extern const uint32_t lw_runtime_count;
extern const uint32_t lw_entry_count;

/* entry-points.c */

/* The number of an entry point; lw_entry_count if there is none. */
uint32_t lw_index_of(const char *name);
void *lw_function_of(const char *name);

/* channel.c: the server's socket and memory. */

/* Connects. Not 0 if there is no server. */
int lw_open_channel(void);
/* In a child of fork: no other thread holds a lock there. */
void lw_channel_in_child(void);
struct lw_header *lw_header(void);
/* Text that kernels have printed. */
const char *lw_text(void);
/* The descriptor of device memory. */
int lw_arena(void);
/* Sends a message that is not answered. `more` follows `data`. */
void lw_send(uint32_t index, const void *data, uint32_t bytes, const void *more, uint32_t more_bytes);
/* Sends a message and waits for its answer. The slot is given back when what the answer asks for has been done. */
struct lw_slot *lw_ask(uint32_t index, const void *data, uint32_t bytes);
void lw_give_back(struct lw_slot *slot);

/* copy.c: between the program's memory and a byte of the device's. Negative if some of the program's is not mapped. */
int lw_copy(void *host, uint64_t offset, uint64_t bytes, int to_device);

/* pages.c: pages of the program, with what is in them, become those of device memory from a byte on, and its own again. */
void lw_adopt(void *pages, uint64_t offset, uint64_t bytes);
void lw_return_pages(void *pages, uint64_t bytes);

/* kernels.c: kernels whose launches may go one way. */
void lw_learn(uint64_t function, const struct lw_kernel *kernel, uint32_t bytes);
void lw_forget(uint64_t function);
/* NULL if it is not known. It stays as it is until it is released. */
const struct lw_kernel *lw_hold_kernel(uint64_t function);
void lw_release_kernel(void);

/* answers.c: sends a call, waits for its answer, and does what that asks for. */
uint64_t lw_request(uint32_t index, const void *data, uint32_t bytes);

/* faults.c: tells the server of accesses to device memory that is closed to the host. */
void lw_watch_faults(void);

/* connection.c: when the server is there. */

/* 0 if the server answers; otherwise the runtime's error for it. */
int lw_connect(void);
/* Whether this process has a connection already. */
int lw_is_connected(void);
/* Remembers a registration until the server is there, or sends it. */
void lw_register(const char *name, const uint64_t words[6]);

/* calls.c */

/* Called by the assembly of each entry point: its index, its registers, its stack. */
uint64_t lw_call(uint32_t index, const uint64_t *registers, const uint64_t *stack);
/* The last error of this thread's calls of the runtime. */
extern _Thread_local uint32_t lw_last_error;
