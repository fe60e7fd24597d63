import { fill, h } from "../dom.ts";
import type { DataShape } from "../engine/protocol.ts";
import {
  type ArgumentJson,
  type BufferJson,
  type JobJson,
  type LaunchJson,
  readJobJson,
  writeJobJson,
} from "./job-text.ts";

const elementTypes = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64"];

/** How a buffer may be filled, and the parameters of each way with their defaults. */
const generators: Readonly<
  Record<string, { readonly label: string; readonly parameters: Readonly<Record<string, number>> }>
> = {
  zero: { label: "zeros", parameters: {} },
  iota: { label: "0, 1, 2, …", parameters: { start: 0, step: 1 } },
  fill: { label: "one value", parameters: { value: 1 } },
  lcg: { label: "random", parameters: { seed: 7, lo: 0, hi: 1 } },
};

/** A parameter of a kernel, as the program declares it. */
export interface KernelParameter {
  readonly name: string;
  readonly type: string;
}

/** What the form asks for. */
interface FormEvents {
  readonly onChange: (job: string) => void;
  /** A launch, by its index, is to be of another kernel. */
  readonly onKernel: (launch: number, kernel: string) => void;
}

/** The size of a launch and its arguments as a form: a view of the job, in which it writes. */
export class LaunchForm {
  readonly element = h("form", {
    class: "launch-form",
    "aria-label": "Launch",
    onsubmit: (e: Event) => e.preventDefault(),
  });
  readonly #events: FormEvents;
  #text = "";
  #data: ReadonlyMap<string, DataShape | null> = new Map();
  #types: ReadonlyMap<string, readonly KernelParameter[]> = new Map();

  constructor(events: FormEvents) {
    this.#events = events;
  }

  /** Shows a job. A form that has the focus is not built anew by what was typed into it. */
  show(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    const job = readJobJson(text);
    if (job === null)
      fill(this.element, h("p", { class: "empty" }, "job.json is not valid JSON: correct it in the editor."));
    else
      fill(
        this.element,
        job.launches.map((launch, i) => this.#launch(job, launch, i)),
        this.#buffers(job),
      );
  }

  /** Learns which files of data there are, and (null: not known) what buffers take them. */
  offer(files: ReadonlyMap<string, DataShape | null>): void {
    this.#data = files;
    this.#again();
  }

  /** Learns the kernels of the program, and their parameters. */
  showKernels(kernels: ReadonlyMap<string, readonly KernelParameter[]>): void {
    this.#types = kernels;
    this.#again();
  }

  #again(): void {
    const text = this.#text;
    this.#text = "";
    if (text !== "") this.show(text);
  }

  #change(job: JobJson, rebuild = false): void {
    const text = `${writeJobJson(job)}\n`;
    if (!rebuild) this.#text = text;
    this.#events.onChange(text);
    if (rebuild) this.show(text);
  }

  #launch(job: JobJson, launch: LaunchJson, index: number): HTMLElement {
    const isVisa = job.isa === "visa";
    const [outer, inner] = isVisa ? (["global", "local"] as const) : (["grid", "block"] as const);
    const title = job.launches.length > 1 ? `Launch ${index + 1}` : "Launch";
    return h(
      "fieldset",
      {},
      h("legend", {}, title, this.#kernel(launch, index)),
      h(
        "div",
        { class: "sizes" },
        this.#size(job, launch, outer, isVisa ? "Work items" : "Blocks"),
        this.#size(job, launch, inner, isVisa ? "in a group" : "Threads of a block"),
        !isVisa &&
          this.#number("Shared bytes", launch.shared ?? 0, (value) => this.#set(job, launch, { shared: value })),
      ),
      h(
        "div",
        { class: "arguments" },
        (launch.args ?? []).map((argument, i) => this.#argument(job, launch, argument, i)),
      ),
    );
  }

  #kernel({ kernel = "" }: LaunchJson, index: number): HTMLElement {
    const names = [...new Set([kernel, ...this.#types.keys()])];
    if (names.length === 1) return h("code", {}, kernel);
    return h(
      "select",
      {
        "aria-label": `Kernel of launch ${index + 1}`,
        onchange: (e: Event) => this.#events.onKernel(index, (e.target as HTMLSelectElement).value),
      },
      names.map((name) => h("option", { value: name, selected: name === kernel }, name)),
    );
  }

  #set(job: JobJson, launch: LaunchJson, fields: Partial<LaunchJson>): void {
    Object.assign(launch, fields);
    this.#change(job);
  }

  #size(job: JobJson, launch: LaunchJson, field: "grid" | "block" | "global" | "local", label: string): HTMLElement {
    const size = launch[field] ?? [1];
    return h(
      "div",
      { class: "size", role: "group", "aria-label": label },
      h("span", { class: "label" }, label),
      ["x", "y", "z"].map((axis, i) =>
        h("input", {
          type: "number",
          min: 1,
          value: size[i] ?? 1,
          "aria-label": `${label}, ${axis}`,
          oninput: (e: Event) => {
            const value = Math.floor(Number((e.target as HTMLInputElement).value));
            if (value < 1) return;
            const next = [size[0] ?? 1, size[1] ?? 1, size[2] ?? 1];
            next[i] = value;
            while (next.length > 1 && next.at(-1) === 1) next.pop();
            size.splice(0, size.length, ...next);
            this.#set(job, launch, { [field]: size });
          },
        }),
      ),
    );
  }

  #number(label: string, value: number, change: (value: number) => void): HTMLElement {
    return h(
      "label",
      { class: "field" },
      h("span", { class: "label" }, label),
      h("input", {
        type: "number",
        step: "any",
        value,
        oninput: (e: Event) => change(Number((e.target as HTMLInputElement).value)),
      }),
    );
  }

  #argument(job: JobJson, launch: LaunchJson, argument: ArgumentJson, index: number): HTMLElement {
    const [kind = "", value] = Object.entries(argument)[0] ?? [];
    const replace = (next: ArgumentJson): void => {
      launch.args![index] = next;
      this.#change(job, true);
    };
    const kinds = ["buf", ...elementTypes];
    const parameter = this.#types.get(launch.kernel ?? "")?.[index];
    return h(
      "div",
      { class: "argument" },
      h(
        "span",
        { class: "label" },
        parameter === undefined ? `Argument ${index}` : [h("code", {}, parameter.name), ` ${parameter.type}`],
      ),
      kinds.includes(kind)
        ? h(
            "select",
            {
              "aria-label": `Kind of argument ${index}`,
              onchange: (e: Event) => {
                const to = (e.target as HTMLSelectElement).value;
                replace(to === "buf" ? { buf: Object.keys(job.buffers ?? {})[0] ?? "" } : { [to]: 0 });
              },
            },
            kinds.map((name) =>
              h("option", { value: name, selected: name === kind }, name === "buf" ? "buffer" : name),
            ),
          )
        : h("span", { class: "faint" }, kind),
      this.#argumentValue(job, argument, index, { kind, value }),
    );
  }

  #argumentValue(
    job: JobJson,
    argument: ArgumentJson,
    index: number,
    { kind, value }: { kind: string; value: unknown },
  ): HTMLElement {
    if (kind === "buf") {
      return h(
        "select",
        {
          "aria-label": `Buffer of argument ${index}`,
          onchange: (e: Event) => {
            argument["buf"] = (e.target as HTMLSelectElement).value;
            this.#change(job);
          },
        },
        Object.keys(job.buffers ?? {}).map((name) => h("option", { value: name, selected: name === value }, name)),
      );
    }
    if (!elementTypes.includes(kind)) return h("code", { class: "faint" }, JSON.stringify(value).slice(0, 60));
    return h("input", {
      type: "number",
      step: "any",
      value: String(value),
      "aria-label": `Value of argument ${index}`,
      oninput: (e: Event) => {
        argument[kind] = Number((e.target as HTMLInputElement).value);
        this.#change(job);
      },
    });
  }

  #buffers(job: JobJson): HTMLElement {
    const buffers = Object.entries((job.buffers ??= {}));
    return h(
      "fieldset",
      {},
      h("legend", {}, "Buffers"),
      buffers.map(([name, buffer]) => this.#buffer(job, name, buffer)),
      h(
        "button",
        {
          type: "button",
          class: "quiet",
          onclick: () => {
            let name = "data";
            for (let i = 2; job.buffers![name] !== undefined; i++) name = `data${i}`;
            job.buffers![name] = { type: "u32", n: 32, init: { gen: "zero" } };
            this.#change(job, true);
          },
        },
        "Add a buffer",
      ),
    );
  }

  #buffer(job: JobJson, name: string, buffer: BufferJson): HTMLElement {
    const gen = buffer.init?.gen ?? "zero";
    const known = generators[gen];
    return h(
      "div",
      { class: "buffer-row", role: "group", "aria-label": `Buffer ${name}` },
      h("strong", { class: "label" }, name),
      h(
        "select",
        {
          "aria-label": `Type of the elements of ${name}`,
          onchange: (e: Event) => {
            buffer.type = (e.target as HTMLSelectElement).value;
            this.#change(job);
          },
        },
        elementTypes.map((type) => h("option", { value: type, selected: type === buffer.type }, type)),
      ),
      h("input", {
        type: "number",
        min: 0,
        value: buffer.n,
        "aria-label": `Elements of ${name}`,
        oninput: (e: Event) => {
          buffer.n = Math.max(0, Math.floor(Number((e.target as HTMLInputElement).value)));
          this.#change(job);
        },
      }),
      h(
        "select",
        {
          "aria-label": `What fills ${name}`,
          onchange: (e: Event) => {
            const to = (e.target as HTMLSelectElement).value;
            const path = /^file (.*)/.exec(to)?.[1];
            buffer.init = path === undefined ? { gen: to, ...generators[to]?.parameters } : { gen: "file", path };
            const shape = path === undefined ? null : this.#data.get(path);
            // A raw file has no type of its own.
            if (shape != null && /\.(npy|png)$/i.test(path!)) Object.assign(buffer, { type: shape.type, n: shape.n });
            this.#change(job, true);
          },
        },
        Object.entries(generators).map(([id, { label }]) => h("option", { value: id, selected: id === gen }, label)),
        [...this.#data.keys()].map((path) =>
          h("option", { value: `file ${path}`, selected: buffer.init?.["path"] === path }, path),
        ),
        known === undefined && gen !== "file" && h("option", { value: gen, selected: true }, gen),
      ),
      Object.keys(known?.parameters ?? {}).map((parameter) =>
        h(
          "label",
          { class: "generator" },
          h("span", { class: "faint" }, parameter),
          h("input", {
            type: "number",
            step: "any",
            value: Number(buffer.init?.[parameter] ?? known!.parameters[parameter]),
            "aria-label": `${parameter} of ${name}`,
            oninput: (e: Event) => {
              buffer.init![parameter] = Number((e.target as HTMLInputElement).value);
              this.#change(job);
            },
          }),
        ),
      ),
    );
  }
}
