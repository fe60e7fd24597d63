/*
 * What the client library and the server agree on: the control memory that both map, and the messages in it.
 * src/cuda/base/wire.ts has the same numbers for the server; test/exec/wire.test.ts compares the two.
 *
 * The client appends messages to a ring. A call that needs an answer names a slot, and its thread waits there; a call
 * without a slot goes one way. All sizes are in bytes, all numbers little-endian.
 */
#pragma once
#include <stdint.h>

#define LW_VERSION 4
#define LW_CONTROL_BYTES 0x1000000u
#define LW_SLOTS_AT 0x10000u
#define LW_SLOT_BYTES 0x1000u
#define LW_SLOT_COUNT 256u
#define LW_RING_AT 0x200000u
#define LW_RING_BYTES 0x400000u
/* Text that kernels print, on its way to the program's stdout. */
#define LW_TEXT_AT 0x800000u
#define LW_TEXT_BYTES 0x800000u

/* Device memory: address n of it is at LW_ARENA_BASE + n, for kernels and, where the host may look, for the host. */
#define LW_ARENA_BASE 0x7f0000000000ull
#define LW_ARENA_BYTES 0x100000000ull

/* Words of a call: the six registers, and what may lie on the stack. */
#define LW_CALL_WORDS 24u
/* Return addresses that follow them, if the server wants to know where calls come from. */
#define LW_CALL_FRAMES 24u

/* Room for a message to a function of the program that listens to the log, with its zero. */
#define LW_MESSAGE_BYTES 1024u

/* The first page of the control memory. */
struct lw_header {
  uint32_t version;
  /* Bytes written and read so far, modulo 2^32. */
  uint32_t head;
  uint32_t tail;
  /* 1 while the server waits in poll: then a byte on the socket wakes it. */
  uint32_t sleeping;
  /* 1 while launches may go one way: nothing has failed, no stream is being captured. */
  uint32_t one_way;
  /* The error that has made the context unusable, as the runtime and as the driver number it; or 0. */
  uint32_t sticky;
  uint32_t sticky_driver;
  /* 1 while the text area belongs to the client. */
  uint32_t text_busy;
  /* 1 if calls come with the stack of the program. */
  uint32_t stacks;
  /* How many streams have been destroyed: a handle may no longer be what it was before. */
  uint32_t removed_streams;
};

/* Messages that are no calls of an entry point have numbers from here on. */
enum lw_message {
  LW_PAD = 0xffffff00,     /* fills the end of the ring */
  LW_LAUNCH = 0xffffff01,  /* struct lw_launch and the bytes of the arguments */
  LW_CALLBACK = 0xffffff02, /* asks for the next function that the host is to run */
  LW_FAULT = 0xffffff03 /* the program accesses closed device memory: a call of address, is it a write, an atomic */
};

struct lw_message_header {
  uint32_t size; /* with this header, a multiple of 8 */
  uint32_t index;
  uint32_t thread;
  uint32_t slot; /* from 1; 0: no answer is wanted */
};

struct lw_launch {
  uint64_t function;
  uint64_t stream;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared;
  uint32_t per_thread;
};

enum { LW_ASLEEP = 2 };

/* An answer: what is to be done, item by item, and then the value that the call returns. */
struct lw_slot {
  uint32_t done; /* 1 when the answer is there, LW_ASLEEP while the thread has to be woken for it */
  uint32_t bytes; /* of all items */
  uint64_t result;
};

enum lw_item_kind {
  LW_POKE = 1,    /* write the data at the address */
  LW_PRINT = 2,   /* print so many bytes of the text area; the address is their number */
  LW_LEARN = 3,   /* struct lw_kernel: launches of the function at the address may go one way */
  LW_FORGET = 4,  /* they may no longer */
  LW_OPEN = 5,    /* let the host access device memory: the address, and the length as the data */
  LW_CLOSE = 6,   /* do not */
  LW_WARN = 7,    /* print the data to stderr */
  LW_CALLBACKS = 8, /* start the thread that runs functions for the server */
  LW_ADOPT = 9,    /* let pages of the host be device memory: data: byte of it, length */
  LW_GIVE_BACK = 10, /* let them be the host's own again: data: length */
  LW_UPLOAD = 11,  /* copy from the address to device memory: data: byte of it, length */
  LW_DOWNLOAD = 12, /* copy from device memory to the address: data: byte of it, length */
  LW_READ_ONLY = 13 /* let the host read device memory, and not write: as LW_OPEN */
};

struct lw_item {
  uint32_t kind;
  uint32_t bytes; /* of the data that follows, padded to 8 */
  uint64_t address;
};

/* What a launch needs to be packed, and the limits within which it certainly is accepted. */
struct lw_kernel {
  uint32_t max_threads;
  uint32_t max_shared;
  uint32_t bytes; /* of all parameters */
  uint32_t count;
  struct {
    uint32_t at;
    uint32_t size;
  } parameters[];
};
