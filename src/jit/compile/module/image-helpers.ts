import { type ModuleWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { coordinatesOf } from "../../../ir/index.ts";
import { allChannels, commonFormCount, type TexelForm, texelForms } from "../../abi/image-words.ts";
import type { FetchKind } from "./fetch-kind.ts";
import { FetchWriter } from "./fetch-writer.ts";
import { type LevelFetch, LevelFetchWriter } from "./level-fetch.ts";
import { TexelLoads } from "./texel-loads.ts";
import { TexelStores, texelStoreParams } from "./texel-stores.ts";

const { op } = wasm;
const v = (local: number): Wasm => wasm.local("v128", local);

/** A form of texels, and the number by which the launcher tells it. */
interface NumberedForm {
  readonly form: TexelForm;
  readonly number: number;
}

const formsOf = (result: TexelForm["result"]): NumberedForm[] =>
  texelForms.flatMap((form, n) => (form.result === result ? [{ form, number: n + 1 }] : []));

const four = new Array<"v128">(4).fill("v128");

/** The name of the function that fetches so. */
function nameOf({ geometry, integers, result, component, offsets, compares, halves, wide = false }: FetchKind): string {
  const isPlain = component === null && offsets === 0 && !compares;
  const rest = isPlain ? "" : `:${component ?? "all"}:${offsets}:${compares ? "depth" : "texel"}`;
  const rounding = `${halves ? ":halves" : ""}${wide ? ":wide" : ""}`;
  return `image:${geometry}:${integers ? "texels" : "points"}:${result}${rest}${rounding}`;
}

/** Functions that fetch texels for four lanes, or for a chunk. */
export class ImageHelpers {
  readonly #module: ModuleWriter;
  readonly #written = new Set<string>();

  constructor(module: ModuleWriter) {
    this.#module = module;
  }

  /**
   * The name of a function that returns four channels, as bits. Its parameters: the words of an image, the number of
   * the form of its texels, coordinates, offsets, and what depths are compared with.
   */
  fetch(kind: FetchKind): string {
    const { geometry, result, component, offsets, compares, halves, wide = false } = kind;
    const isUsual = ["1d", "2d", "3d", "a1d", "a2d"].includes(geometry);
    const isPlain = component === null && offsets === 0 && !compares && isUsual && !halves && !wide;
    const name = nameOf(kind);
    if (this.#written.has(name)) return name;
    this.#written.add(name);
    const vectors = new Array<"v128">(coordinatesOf[geometry] + offsets + Number(compares)).fill("v128");
    const params = ["i32", "i32", ...vectors] as const;
    const forms = isPlain ? formsOf(result).filter(({ number }) => number <= commonFormCount) : [];
    for (const { form, number } of forms) {
      new FetchWriter(this.#module.function(`${name}:${number}`, params, four), kind, form).write();
    }
    const loads = this.#texels(result);
    if (wide) {
      new FetchWriter(this.#module.function(name, params, [...four, ...four]), kind, loads).write();
      return name;
    }
    const any = `${name}:any`;
    new FetchWriter(this.#module.function(any, params, four), kind, loads).write();
    const w = this.#module.function(name, params, four);
    const results = four.map((ty) => w.local(ty));
    this.#choose(w, wasm.local("i32", 1), forms, (form) => {
      for (let n = 0; n < 2 + vectors.length; n++) w.get(n);
      w.call(form === null ? any : `${name}:${form.number}`);
      for (const local of [...results].reverse()) w.set(local);
    });
    w.values(results.map(v));
    return name;
  }

  /** The name of a function that fetches for a chunk from the levels which lanes choose: see `LevelFetchWriter`. */
  levels(kind: FetchKind, chunk: Pick<LevelFetch, "levelWords" | "fragments" | "quads">): string {
    const name = `${nameOf(kind)}:levels:${chunk.levelWords}`;
    if (this.#written.has(name)) return name;
    this.#written.add(name);
    const wide = kind.result === "float" ? this.fetch({ ...kind, halves: false, wide: true }) : null;
    new LevelFetchWriter(this.#module, name, { ...chunk, kind, plain: this.fetch(kind), wide }).write();
    return name;
  }

  /** The name of a function that stores texels in the format of a surface: see `TexelStores`. */
  store(): string {
    const name = "image:store";
    if (this.#written.has(name)) return name;
    this.#written.add(name);
    new TexelStores(this.#module.function(name, texelStoreParams, [])).write();
    return name;
  }

  /** Writes code for the form with a number, or for none of them. */
  #choose(
    w: ReturnType<ModuleWriter["function"]>,
    number: Wasm,
    [first, ...rest]: readonly NumberedForm[],
    write: (form: NumberedForm | null) => void,
  ): void {
    if (first === undefined) {
      write(null);
      return;
    }
    w.value(op("i32.eq", number, wasm.i32(first.number)));
    w.if(
      () => write(first),
      () => this.#choose(w, number, rest, write),
    );
  }

  /**
   * The name of a function (the bytes at which texels of any form lie, the number of the form) that returns four
   * channels: those that texels do not have are 0, and 1 for the fourth.
   */
  #texels(result: TexelForm["result"]): string {
    const name = `image:${result}`;
    if (this.#written.has(name)) return name;
    this.#written.add(name);
    const w = this.#module.function(name, ["v128", "i32"], four);
    const results = four.map((ty) => w.local(ty));
    const absent = [0, 0, 0, result === "float" ? 0x3f80_0000 : 1];
    w.assign(results.map((local, c) => ({ local, value: wasm.i32x4(absent[c]!) })));
    const number = op("i32.and", wasm.local("i32", 1), wasm.i32(allChannels - 1));
    this.#choose(w, number, formsOf(result), (found) => {
      if (found === null) return;
      const channels = new TexelLoads(w, found.form).load(0);
      w.assign(channels.map((local, c) => ({ local: results[c]!, value: v(local) })));
      for (const local of channels) w.release(local);
    });
    w.values(results.map(v));
    return name;
  }
}
