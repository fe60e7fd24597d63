import type { LocDirective } from "../../ptx/tree/leaves.ts";
import type { Item } from "../../ptx/tree/module.ts";
import type { Block, Instruction, Statement } from "../../ptx/tree/nodes.ts";
import { lastFrom } from "./model.ts";

/** The instruction or `.loc` around an offset of a part's source, or null. */
export function instructionAt(item: Item, at: number): Instruction | LocDirective | null {
  const statement = statementAt(item, at);
  return statement?.kind === "instruction" || statement?.kind === "loc" ? statement : null;
}

/** The innermost statement around an offset of a part's source, or null. */
function statementAt(item: Item, at: number): Statement | null {
  const blocks = blocksAt(item, at);
  const block = blocks.at(-1);
  if (block === undefined) return null;
  const found = lastFrom(block.statements, ({ start }) => start <= at);
  return found !== undefined && at <= found.end ? found : null;
}

/** The blocks around an offset of a part's source, outermost first. */
export function blocksAt(item: Item, at: number): readonly Block[] {
  const blocks: Block[] = [];
  let block: Statement | null | undefined = item.kind === "function" ? item.body : null;
  while (block?.kind === "block" && block.start <= at && at <= block.end) {
    blocks.push(block);
    block = lastFrom<Statement>(block.statements, ({ start }) => start <= at);
  }
  return blocks;
}

/** Yields the statements of a block and of those inside it. */
export function* allStatements({ statements }: Block): Generator<Statement> {
  for (const statement of statements) {
    yield statement;
    if (statement.kind === "block") yield* allStatements(statement);
  }
}
