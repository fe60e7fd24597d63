import {
  controlOf,
  type Expr,
  hasOperands,
  type Op,
  type OpWithOperands,
  productOperands,
  registersOfC,
  type WarpgroupProduct,
  warpTraits,
} from "../ir/index.ts";
import { lowestLane } from "../ir/lane-mask.ts";
import { maskOf } from "../ir/lanes.ts";
import type {
  AccessEvent,
  CallEvent,
  CellsEvent,
  EnterEvent,
  InstructionEvent,
  LaneEvent,
  Observer,
  RangeEvent,
  ReturnEvent,
  UndefinedEvent,
  WarpEvent,
} from "../machine/events.ts";
import type { Site } from "../machine/state/code.ts";
import type { Cta, Grid, Warp } from "../machine/state/launch-state.ts";
import { atomic, defineRange, load, store } from "./init/access.ts";
import type { ActivationShadow } from "./init/activation-shadow.ts";
import { callExternal, enter, leave } from "./init/calls.ts";
import { undefinedProducts } from "./init/products.ts";
import { type Plan, planOf } from "./init/reads.ts";
import { InitState, LaneShades } from "./init/state.ts";
import { TensorShadow } from "./init/tensor-cells.ts";
import { finish, WarpOperands } from "./init/warp-ops.ts";
import { unspecifiedResults } from "./undefined.ts";

/** Lanes in which results are undefined, for instance as the guard is: it is unknown whether they were written. */
interface Doubt {
  readonly site: Site;
  readonly lanes: number;
  readonly origin: number;
}

/**
 * Reports uses of values that were never written, and of unspecified results, where the use matters: where it decides
 * control flow, which memory is accessed, or what other threads see of it. The report names the instruction that first
 * read the unwritten place, or whose result is unspecified. Copying such values and computing with them is not an
 * error: undefinedness is tracked bit by bit.
 *
 * One observer watches one launch.
 */
export class InitSanitizer implements Observer {
  readonly #state = new InitState();
  readonly #tensor = new TensorShadow(this.#state);
  readonly #operands = new WeakMap<Warp, WarpOperands>();
  /** The values of the current instruction, in order; `access` takes from here what a store stores. */
  readonly #values: LaneShades[] = [];
  #count = 0;
  /** Lanes that reached the current instruction, and those in which an operand of it is undefined. */
  #active = 0;
  #undefinedLanes = 0;
  #doubt: Doubt | null = null;

  launchBegin({ memory }: Grid): void {
    this.#state.memory.beginLaunch(memory);
  }

  blockBegin(cta: Cta): void {
    const { memory } = this.#state;
    const { threads } = cta.grid;
    memory.beginBlock(cta);
    this.#tensor.blockBegin(cta);
    for (const warp of cta.warps) {
      this.#state.beginWarp(warp);
      this.#operands.set(warp, new WarpOperands());
      const x = warp.groups[0]!.activation;
      const shadow = this.#state.shadowOf(x);
      if (threads === null) shadow.begin();
      else shadow.beginKernel(threads);
      memory.beginFrame(warp, 0, x.code.frame.size, warp.lanes);
    }
  }

  guard(e: InstructionEvent): void {
    this.#doubt = null;
    const { guard, lanes } = e.site.instruction;
    const { registers } = this.#state.shadowOf(e.activation);
    const undefinedLanes = registers.lanes[guard!.register]! & e.group & e.warp.live;
    if (undefinedLanes === 0) return;
    const active = e.group & e.warp.live;
    const asked = guard!.collapse === undefined ? e.mask : lanes === undefined ? -1 : maskOf(lanes);
    const deciding = undefinedLanes & asked;
    if (deciding === 0) return;
    const all = guard!.collapse !== undefined || lanes?.uniform === true;
    const affected = all ? active : deciding;
    const first = lowestLane(deciding);
    const { reader } = this.#state;
    reader.at(this.#state.shadowOf(e.activation), e.activation, first, active);
    reader.read({ kind: "reg", ty: "pred", reg: guard!.register });
    const origin = this.#state.originOf(e.site, e.activation);
    const plan = planOf(e.site);
    if (plan.hasEffect) this.#state.matters({ ...e, mask: affected }, origin, roleOfGuard(e.site.instruction.op));
    else this.#doubtResults({ site: e.site, lanes: affected, origin }, e);
  }

  instruction(e: InstructionEvent): void {
    const { warp, activation, site } = e;
    const { op } = site.instruction;
    const plan = planOf(site);
    const shadow = this.#state.shadowOf(activation);
    this.#active = e.group & warp.live;
    this.#tensor.begin();
    if (plan.uses.length > 0) this.#checkUses(e, plan, shadow);
    if (hasOperands(op)) this.#perform(op, e, plan, shadow);
    else this.#define(e, plan, shadow);
    if (this.#doubt !== null && this.#doubt.site === site) this.#doubtResults(this.#doubt, e);
  }

  #perform(op: OpWithOperands, e: InstructionEvent, plan: Plan, shadow: ActivationShadow): void {
    switch (op.kind) {
      case "pure":
        this.#read(e, plan, shadow);
        this.#define(e, plan, shadow);
        if (this.#undefinedLanes !== 0) this.#write(e, shadow);
        return;
      case "store":
        this.#read(e, plan, shadow);
        return;
      case "atomic":
        this.#undefinedLanes = shadow.lanesReading(plan.valuesRead, e.mask, this.#active);
        this.#define(e, plan, shadow, e.mask & ~this.#undefinedLanes);
        return;
      case "warp":
        this.#bring(e, plan, shadow, op);
        return;
      case "unit":
        if (op.unit.op === "multiply-warpgroup") this.#multiply(e, plan, shadow, op.operands, op.unit.product);
        else this.#define(e, plan, shadow);
        return;
      case "alloca":
        this.#state.memory.dropBeyond(e.warp, e.activation.top, e.mask);
        this.#define(e, plan, shadow);
        return;
      // Whether it reads undefined memory is known with its addresses: see `access`.
      case "load":
      case "copy":
      case "barrier":
      case "branch-indexed":
      case "call":
      case "file-call":
      case "stack-restore":
      case "sleep":
        this.#define(e, plan, shadow);
        return;
      default:
        op satisfies never;
    }
  }

  /** Marks the results as defined in some lanes. */
  #define({ activation, site, mask }: LaneEvent, plan: Plan, shadow: ActivationShadow, lanes = mask): void {
    const { dst } = site.instruction;
    if (dst.length > 0) this.#state.define(shadow, activation, plan, dst, lanes);
  }

  /** An unspecified result is undefined: it is reported where it matters. */
  undefinedCase({ activation, site, mask, code }: UndefinedEvent): void {
    const message = unspecifiedResults[code];
    if (message === undefined) return;
    const origin = this.#state.origins.ofResult(site, activation, code, message);
    this.#undefine(this.#state.shadowOf(activation), activation, { site, lanes: mask, origin });
  }

  access(e: AccessEvent): void {
    if (e.effect === "load") load(this.#state, e);
    else if (e.effect === "store") store(this.#state, e, this.#values.slice(0, this.#count), this.#active);
    else atomic(this.#state, e, this.#undefinedLanes, this.#active);
  }

  cells(e: CellsEvent): void {
    this.#tensor.cells(e, this.#active);
  }

  range(e: RangeEvent): void {
    defineRange(this.#state, e);
  }

  call(e: CallEvent): void {
    if (e.callee.ir.external) callExternal(this.#state, e);
  }

  enter({ activation, mask }: EnterEvent): void {
    enter(this.#state, activation, mask);
  }

  return({ activation, mask }: ReturnEvent): void {
    leave(this.#state, activation, mask);
  }

  warp(e: WarpEvent): void {
    const operands = this.#operands.get(e.warp);
    if (operands !== undefined) finish(this.#state, e, operands);
  }

  /**
   * Checks the operands that decide what happens. Lanes that execute without being active decide nothing for others.
   */
  #checkUses(e: InstructionEvent, plan: Plan, shadow: ActivationShadow): void {
    const { activation, site } = e;
    const { lanes } = site.instruction;
    const uniform = lanes?.uniform === true;
    const mask = e.mask & this.#active;
    const asked = uniform ? 1 << lanes.first : mask;
    if (mask === 0) return;
    const found = shadow.lanesReading(plan.usesRead, asked, this.#active);
    if (found === 0) return;
    const { reader } = this.#state;
    for (const { expr, role, ends } of plan.uses) {
      const byOrigin = new Map<number, number>();
      for (let m = found; m !== 0; m &= m - 1) {
        const lane = lowestLane(m);
        reader.at(shadow, activation, lane, this.#active);
        if (!reader.read(expr)) continue;
        const origin = this.#state.originOf(site, activation);
        byOrigin.set(origin, (byOrigin.get(origin) ?? 0) | (uniform ? mask : 1 << lane));
      }
      for (const [origin, affected] of byOrigin) this.#state.matters({ ...e, mask: affected }, origin, role, ends);
    }
  }

  /** Notes which bits of the values are undefined, before anything is written. */
  #read(e: LaneEvent, plan: Plan, shadow: ActivationShadow): void {
    const { activation, site, mask } = e;
    const found = shadow.lanesReading(plan.valuesRead, mask, this.#active);
    this.#undefinedLanes = found;
    this.#count = 0;
    if (found === 0) return;
    const { reader } = this.#state;
    this.#count = plan.values.length;
    plan.values.forEach((_, i) => {
      (this.#values[i] ??= new LaneShades()).lanes = 0;
    });
    for (let m = found; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      reader.at(shadow, activation, lane, this.#active);
      plan.values.forEach((value, i) => {
        if (value === null || !reader.read(value)) return;
        this.#values[i]!.put(lane, reader, this.#state.originOf(site, activation));
      });
    }
  }

  /** Writes the results that have undefined bits. */
  #write({ activation, site }: LaneEvent, shadow: ActivationShadow): void {
    site.instruction.dst.forEach((to, i) => {
      const value = this.#values[i];
      if (to === null || value === undefined || i >= this.#count) return;
      for (let m = value.lanes; m !== 0; m &= m - 1) {
        const lane = lowestLane(m);
        this.#state.reader.at(shadow, activation, lane, this.#active);
        this.#state.write(shadow, to, lane, value.of(lane));
      }
    });
  }

  /** Keeps the operands that lanes bring to a warp-wide operation until the operation is performed. */
  #bring(e: LaneEvent, plan: Plan, shadow: ActivationShadow, op: Extract<Op, { kind: "warp" }>): void {
    const operands = this.#operands.get(e.warp)!;
    operands.clear(e.mask);
    const { takes } = warpTraits[op.warp.op];
    const found = shadow.lanesReading(plan.valuesRead, e.mask, this.#active);
    const { reader } = this.#state;
    for (let m = found; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      reader.at(shadow, e.activation, lane, this.#active);
      op.warp.operands.forEach((expr, i) => {
        if (!reader.read(expr)) return;
        if (op.warp.op === "arrange" || op.warp.op === "multiply") {
          operands.numbered(i).put(lane, reader, this.#state.originOf(e.site, e.activation));
          return;
        }
        // If the operation reads one lane, the operands after the first choose that lane.
        (i === 0 || takes !== "one" ? operands.value : operands.choice).put(
          lane,
          reader,
          this.#state.originOf(e.site, e.activation),
        );
      });
    }
  }

  /** A warp's part of a warpgroup's product is performed at once. */
  #multiply(
    e: LaneEvent,
    plan: Plan,
    shadow: ActivationShadow,
    values: readonly Expr[],
    product: WarpgroupProduct,
  ): void {
    const operands = this.#operands.get(e.warp)!;
    operands.clear(e.mask);
    const found = shadow.lanesReading(plan.valuesRead, e.mask, this.#active);
    const { reader } = this.#state;
    for (let m = found; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      reader.at(shadow, e.activation, lane, this.#active);
      for (let i = productOperands.registersOfA; i < values.length; i++)
        if (reader.read(values[i]!)) operands.numbered(i).put(lane, reader, this.#state.originOf(e.site, e.activation));
    }
    this.#define(e, plan, shadow);
    if (found === 0) return;
    const undefinedBits = undefinedProducts(product.tile, operands, {
      a: product.left.kind === "registers" ? productOperands.registersOfA : null,
      b: null,
      c: registersOfC(product),
    });
    e.site.instruction.dst.forEach((to, i) => {
      if (to !== null)
        for (let lane = 0; lane < 32; lane++) this.#state.write(shadow, to, lane, undefinedBits.of(i, lane));
    });
  }

  /** Marks results as undefined because it is unknown whether they were written. */
  #doubtResults(doubt: Doubt, { activation, site }: LaneEvent): void {
    this.#doubt = doubt;
    this.#undefine(this.#state.shadowOf(activation), activation, { ...doubt, site });
  }

  #undefine(shadow: ActivationShadow, activation: LaneEvent["activation"], { site, lanes, origin }: Doubt): void {
    for (let m = lanes; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      this.#state.reader.at(shadow, activation, lane, this.#active);
      for (const to of site.instruction.dst) {
        if (to !== null) this.#state.write(shadow, to, lane, { low: -1, high: -1, origin });
      }
    }
  }
}

function roleOfGuard(op: Op): string {
  switch (controlOf(op)) {
    case "branch":
      return "the condition of a branch";
    case "call":
    case "subroutine":
      return "the predicate of a call";
    case "leave":
      return "the predicate of a return";
    case "next":
    case "split":
    case "stop":
      return op.kind === "store" ? "the predicate of a store" : "the predicate of an instruction that others see";
  }
}
