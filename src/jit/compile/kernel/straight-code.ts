import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import type { Guard } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { BranchCondition } from "../analysis/flow/branch-condition.ts";
import { IfConversion } from "../control/if-conversion.ts";
import { everywhere } from "../control/uniform-branch.ts";
import type { Chunk } from "../emit/chunk.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import type { AccessChecks } from "../memory/access-checks.ts";
import type { StraightBlock, StraightPath } from "../regions/straight-path.ts";
import type { Instructions } from "./instructions.ts";

/** Writes the path that all lanes of a block of threads take. */
export class StraightCode {
  readonly #chunk: Chunk;
  readonly #accessChecks: AccessChecks;
  readonly #instructions: Instructions;
  readonly #ifConversion: IfConversion;

  constructor(chunk: Chunk, accessChecks: AccessChecks, instructions: Instructions) {
    this.#chunk = chunk;
    this.#accessChecks = accessChecks;
    this.#instructions = instructions;
    this.#ifConversion = new IfConversion(chunk, false, (block) => this.#writeInstructions(block, new Set()));
  }

  /**
   * `prepare`: computes the invariants of a chunk; `eachChunk`: loops over the chunks, row by row of the block of
   * threads.
   */
  write(
    { blocks, decided, accesses }: StraightPath,
    prepare: () => void,
    eachChunk: (beginRow: () => void, write: () => void) => void,
  ): void {
    const write = (): void =>
      this.#chunk.whileConverged(() => {
        for (const block of blocks) this.#writeBlock(block, decided);
      });
    this.#accessChecks.writeRow(accesses, (find, advance) => {
      const beginRow = (): void => {
        prepare();
        find();
      };
      eachChunk(beginRow, () => {
        prepare();
        write();
        advance();
      });
    });
  }

  #writeBlock({ index, region, condition }: StraightBlock, decided: ReadonlySet<number>): void {
    const { graph, instructions } = this.#chunk.analysis.code;
    const block = graph.blocks[index]!;
    if (region === null) {
      this.#writeInstructions(block, decided);
      return;
    }
    const { writer } = this.#chunk;
    const last = instructions[block.end - 1]!;
    const guard = last.guard!;
    const isSkipped = (): Wasm | null => (condition === null ? null : this.#isTakenByAll(condition, guard));
    const evaluated = isSkipped() === null ? [] : condition!.instructions;
    this.#writeInstructions(block, new Set([...decided, ...evaluated]));
    const writeRegion = (): void => {
      for (const i of evaluated) this.#instructions.write(index, i, instructions[i]!);
      this.#chunk.begin(last);
      writer.value(anyOf(this.#chunk.guardMask({ ...guard, negate: !guard.negate })!));
      writer.if(() => this.#ifConversion.write(region, last));
    };
    // What it reads may have been written by the block.
    const skips = isSkipped();
    if (skips === null) writeRegion();
    else {
      writer.value(wasm.op("i32.eqz", skips));
      writer.if(writeRegion);
    }
  }

  /** 1 only if all lanes take a branch; null if that takes a test of each lane. */
  #isTakenByAll({ predicates }: BranchCondition, { register, negate }: Guard): Wasm | null {
    this.#chunk.begin();
    return everywhere(this.#chunk, predicates, { kind: "reg", ty: "pred", reg: register }, !negate);
  }

  #writeInstructions({ index, start, end }: FlowBlock, decided: ReadonlySet<number>): void {
    const { instructions } = this.#chunk.analysis.code;
    this.#chunk.scheduling.begin();
    for (let i = start; i < end; i++) {
      const { op } = instructions[i]!;
      const isJump = op.kind === "branch" || op.kind === "return" || op.kind === "exit";
      if (isJump || decided.has(i)) continue;
      this.#instructions.write(index, i, instructions[i]!);
      this.#chunk.scheduling.written(instructions[i]!);
    }
    this.#chunk.scheduling.end();
  }
}
