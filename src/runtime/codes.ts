import type { Catalogue } from "../source/index.ts";

/** The pages of what can be wrong with a job file. */
export const jobCodes = {
  "json-syntax": {
    title: "the text is not JSON",
    page: "A job file is one JSON value (RFC 8259). As Python's json module writes them, NaN and Infinity are taken too; comments and trailing commas are not. Integers may have any number of digits and are kept exactly.",
    example: { bad: '{"id": "a",}', good: '{"id": "a"}' },
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

export type JobCode = keyof typeof jobCodes;
