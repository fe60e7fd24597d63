import type { Width } from "./values.ts";

/** How large the functions of a program are. */
export interface Scale {
  /** Registers of each width in the pool of a function that differ from lane to lane. */
  readonly varying: Readonly<Record<Width, number>>;
  /** Those that hold the same value in all lanes until divergent code writes them. */
  readonly uniform: Readonly<Record<Width, number>>;
  /** Of so many statements that a family asks for, one is written. */
  readonly oneStatementOf: number;
  /** Lines of a function after which nothing nested begins. */
  readonly mostLines: number;
}

/** Small programs are for C compilers, which need a tenth of the time for them. */
export const scales = {
  usual: {
    varying: { 1: 5, 8: 2, 16: 5, 32: 10, 64: 6, 128: 1 },
    uniform: { 1: 2, 8: 0, 16: 1, 32: 3, 64: 2, 128: 0 },
    oneStatementOf: 1,
    mostLines: 220,
  },
  small: {
    varying: { 1: 2, 8: 1, 16: 2, 32: 4, 64: 2, 128: 1 },
    uniform: { 1: 1, 8: 0, 16: 0, 32: 2, 64: 1, 128: 0 },
    oneStatementOf: 3,
    mostLines: 60,
  },
} as const satisfies Readonly<Record<string, Scale>>;
