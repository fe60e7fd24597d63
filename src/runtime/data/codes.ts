import type { Catalogue } from "../../source/index.ts";

/** Catalogue pages of the diagnostics for job files. */
export const jobCodes = {
  "json-syntax": {
    title: "the text is not JSON",
    page: "A job file is one JSON value (RFC 8259). As Python's json module writes them, NaN and Infinity are taken too; comments and trailing commas are not. Integers may have any number of digits and are kept exactly.",
    example: {
      bad: '{"id": "a", "variants": {}, "launches": [],}',
      good: '{"id": "a", "variants": {}, "launches": []}',
    },
  },
  "job-field": {
    title: "a field of a job is missing or has the wrong shape",
    page: "The message begins with the path of the field, as in `launches[0].args[2]`. Names that are not known are ignored, except those that are almost a known one: a misspelt `checks` would make a job that checks nothing.",
    example: {
      bad: '{"id": "a", "variants": {"v": ["a.ptx"]}, "launches": [{"kernel": "k", "grid": 1, "block": [1]}]}',
      good: '{"id": "a", "variants": {"v": ["a.ptx"]}, "launches": [{"kernel": "k", "grid": [1], "block": [1]}]}',
    },
  },
} as const satisfies Catalogue;

/** Catalogue pages of the reports made by the functions that device code calls without a body. */
export const deviceFunctionCodes = {
  "invalid-free": {
    title: "free is given a pointer that malloc did not give",
    page: "Device code may free only what device code has allocated with malloc, and only once. What the host has allocated, local and shared variables, and pointers into the middle of an allocation are not for it to free.",
  },
  "assertion-failed": {
    title: "a device-side assertion does not hold",
    page: "The program called __assertfail, which `assert` of CUDA C++ does when its condition is false. The launch ends there; the message has the condition and its place in the C++ source.",
  },
} as const satisfies Catalogue;

export type JobCode = keyof typeof jobCodes;
