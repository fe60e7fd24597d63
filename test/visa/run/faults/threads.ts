import type { Fault } from "./fault.ts";

const meet = { name: "meet", takes: 0, returns: 0, body: "barrier <--\nfret (E)" };

/** Threads that wait for ever, or never end. */
export const threads: readonly Fault[] = [
  {
    title: "a barrier in a function that one of three threads does not call",
    report: "deadlock",
    items: 48,
    functions: [meet],
    kernel: `
      shr (one) S! ID$ 4:ud
      cmp.ne (one) P1 S$ 1:ud
      (P1) fcall (one) meet 0 0`,
    threads: "0-15",
    stack: ["meet", "k"],
    says: ["thread 1", "has ended", "2 of 3"],
  },
  {
    title: "a thread that waits twice, and one that waits once",
    report: "deadlock",
    items: 32,
    functions: [meet],
    kernel: `
      fcall (one) meet 0 0
      cmp.ge (one) P1 ID$ 16:ud
      (P1) fcall (one) meet 0 0`,
    threads: "16-31",
    stack: ["meet", "k"],
    says: ["thread 0", "has ended", "1 of 2"],
  },
  {
    title: "functions with barriers of their own, by address: one thread calls one that has none",
    report: "deadlock",
    items: 32,
    functions: [meet, { name: "pass", takes: 0, returns: 0, body: "fret (E)" }],
    kernel: `
      faddr meet F!
      faddr pass S!
      cmp.ge (one) P1 ID$ 16:ud
      (P1) mov (one) F! S$
      ifcall (E) F$ 0 0`,
    threads: "0-15",
    stack: ["meet", "k"],
    says: ["thread 1", "has ended", "1 of 2"],
  },
  {
    title: "of two groups one waits for ever, three calls deep",
    report: "deadlock",
    items: 64,
    group: 32,
    functions: [
      meet,
      { name: "b", takes: 0, returns: 0, body: "fcall (E) meet 0 0\nfret (E)" },
      { name: "a", takes: 0, returns: 0, body: "faddr b F!\nifcall (E) F$ 0 0\nfret (E)" },
    ],
    kernel: `
      cmp.lt (one) P1 ID$ 48:ud
      (P1) fcall (one) a 0 0`,
    threads: "32-47",
    stack: ["meet", "b", "a", "k"],
    says: ["thread 1", "has ended"],
  },
  {
    title: "a barrier in a function that half the lanes of a thread call",
    report: "barrier-divergence",
    functions: [meet],
    kernel: `
      cmp.lt (E) P1 ID@ 8:ud
      (P1) fcall (E) meet 0 0`,
    threads: "0-7",
    stack: ["meet", "k"],
    says: ["0x000000ff", "0x0000ff00"],
  },
  {
    title: "a loop in a function that never ends",
    report: "no-progress",
    functions: [{ name: "f", takes: 0, returns: 0, body: "again:\nadd (E) X! X@ 1:ud\ngoto (E) again <--\nfret (E)" }],
    kernel: "mov (E) R! 1:ud\nfcall (E) f 0 0",
    threads: "0-15",
    stack: ["f", "k"],
    says: ["200000"],
  },
  {
    title: "a loop that two lanes do not leave",
    report: "no-progress",
    functions: [
      {
        name: "f",
        takes: 1,
        returns: 0,
        body: `
          mov (E) X! ARG@
          again:
          add (E) X! X@ -2:d
          cmp.ne (E) P1 X@ 0:ud
          (P1) goto (E) again <--
          fret (E)`,
      },
    ],
    kernel: `
      mov (E) ARG! 4:ud
      cmp.eq (E) P1 ID@ 5:ud
      (P1) mov (E) ARG! 3:ud
      cmp.eq (E) P1 ID@ 9:ud
      (P1) mov (E) ARG! 5:ud
      fcall (E) f # 0`,
    threads: "5, 9",
    stack: ["f", "k"],
    says: ["200000"],
  },
  {
    title: "a kernel that calls a function again and again",
    report: "no-progress",
    functions: [{ name: "f", takes: 0, returns: 0, body: "fret (E)" }],
    kernel: "again:\nfcall (E) f 0 0\ngoto (E) again <--",
    threads: "0-15",
    says: ["200000"],
  },
  {
    title: "a thread that waits for a flag in memory which no thread sets",
    report: "no-progress",
    functions: [
      {
        name: "wait_for",
        takes: 1,
        returns: 0,
        body: `
          mov (one) Q! OUTARG(0,0)<0;1,0>
          again:
          svm_gather.4.1 (one) Q.0 S.0
          cmp.eq (one) P1 S$ 0:ud
          (P1) goto (one) again <--
          fret (E)`,
      },
    ],
    declarations: ".decl OUTARG v_type=G type=uq num_elts=1 alias=<%arg, 0>",
    kernel: "mov (one) OUTARG(0,0)<1> OUT$\nfcall (E) wait_for # 0",
    threads: "0-15",
    stack: ["wait_for", "k"],
    says: ["200000"],
  },
];
