import { tensorCell, type UnitOpOf } from "../../ir/index.ts";
import { lanesIn } from "../../ir/lane-mask.ts";
import type { CellsEvent, TensorCells } from "../../machine/events.ts";
import type { Cta } from "../../machine/state/launch-state.ts";
import type { InitState } from "./state.ts";

const lanes = 128;
const columns = 512;

/**
 * Which cells of tensor memory have been written, by block. Loads pass on what is undefined, lane by lane. Of products
 * it is a use if nothing at all of a matrix has been written: which cells of it they need is not followed.
 */
export class TensorShadow {
  readonly #state: InitState;
  readonly #defined = new WeakMap<Cta, Uint8Array>();
  /** Whether the present instruction has not accessed cells yet. A load of two parts does so twice. */
  #isFirst = true;

  constructor(state: InitState) {
    this.#state = state;
  }

  begin(): void {
    this.#isFirst = true;
  }

  /** `active`: the lanes that reached the instruction. */
  cells(e: CellsEvent, active: number): void {
    const { op } = e.site.instruction;
    if (op.kind !== "unit") return;
    const { unit } = op;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const cells = this.#of(e.owner);
    if (unit.op === "tensor-load") {
      if (isFirst) this.#load(e, unit, cells);
      return;
    }
    if (e.effect === "load") {
      this.#use(e, cells);
      return;
    }
    if (unit.op !== "tensor-store") fill(cells, e.cells, unit.op === "tensor-dealloc" ? 0 : 1);
    else if (isFirst) this.#store(e, unit, cells, active);
  }

  #of(cta: Cta): Uint8Array {
    let found = this.#defined.get(cta);
    if (found === undefined) this.#defined.set(cta, (found = new Uint8Array(lanes * columns)));
    return found;
  }

  blockBegin(cta: Cta): void {
    this.#defined.delete(cta);
  }

  #load({ activation, site, cells: at }: CellsEvent, { move }: UnitOpOf<"tensor-load">, cells: Uint8Array): void {
    const shadow = this.#state.shadowOf(activation);
    const { dst } = site.instruction;
    let origin = 0;
    for (const lane of lanesIn(-1)) {
      let any = false;
      for (let i = 0; i < move.registers; i++) {
        const place = cellOf(move, i, lane, at);
        const isWhole = cells[place] === 1 && (!move.packed || cells[place + 1] === 1);
        if (isWhole) continue;
        any = true;
        origin ||= this.#origin({ activation, site });
        if (dst[i] !== null && dst[i] !== undefined) this.#state.write(shadow, dst[i]!, lane, { ...wholly, origin });
      }
      const reduced = dst[move.registers];
      if (any && reduced !== null && reduced !== undefined)
        this.#state.write(shadow, reduced, lane, { ...wholly, origin });
    }
  }

  #store(e: CellsEvent, { move }: UnitOpOf<"tensor-store">, cells: Uint8Array, active: number): void {
    const { op } = e.site.instruction;
    const values = op.kind === "unit" ? op.operands.slice(1) : [];
    const shadow = this.#state.shadowOf(e.activation);
    const { reader } = this.#state;
    for (const lane of lanesIn(e.mask)) {
      reader.at(shadow, e.activation, lane, active);
      for (const [i, value] of values.entries()) {
        const place = cellOf(move, i, lane, e.cells);
        cells.fill(reader.read(value) ? 0 : 1, place, place + (move.packed ? 2 : 1));
      }
    }
  }

  #use(e: CellsEvent, cells: Uint8Array): void {
    const { lane, lanes: count, column, columns: width } = e.cells;
    for (let row = lane; row < lane + count; row++) {
      if (cells.subarray(row * columns + column, row * columns + column + width).includes(1)) return;
    }
    this.#state.matters(e, this.#origin(e), "multiplied");
  }

  #origin({ site, activation }: Pick<CellsEvent, "site" | "activation">): number {
    return this.#state.origins.number(site, activation, () => "tensor memory");
  }
}

const wholly = { low: -1, high: 0 } as const;

/** The cell of a register, of a move whose first part is at some cells. */
function cellOf(move: UnitOpOf<"tensor-store">["move"], register: number, lane: number, at: TensorCells): number {
  const [row, column] = tensorCell(move.shape, register, lane);
  const split = lane >= 16 && move.shape === "16x32bx2" ? move.split : 0;
  return (at.lane + row) * columns + at.column + split + (move.packed ? 2 * column : column);
}

function fill(cells: Uint8Array, { lane, lanes: count, column, columns: width }: TensorCells, value: 0 | 1): void {
  for (let row = lane; row < lane + count; row++) {
    cells.fill(value, row * columns + column, row * columns + column + width);
  }
}
