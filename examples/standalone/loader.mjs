// Launches what `lanewise build` makes, in Node and in browsers, with nothing of Lanewise. docs/build.md explains the
// description.
//
//     const kernel = await loadKernel(description, bytes);
//     const x = kernel.buffer(new Float32Array([1, 2, 3]));
//     const y = kernel.buffer(12);
//     kernel.launch({ grid: 1, block: 32, args: [3, 2.5, x, y] });
//     y.read(Float32Array);

/** The second has sizes among the parameters; the third, reasons. */
const knownFormats = ["lanewise kernel 1", "lanewise kernel 2", "lanewise kernel 3"];
const page = 0x1_0000;
/** Allocations have so many bytes between them, in which an access is found to be outside of all. */
const gap = 256;
/** Blocks that have begun and not ended, where they wait for each other. */
const mostInFlight = 512;
const fromBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
/** An access so many bytes from a buffer or variable is told to be near it. */
const nearby = 0x1_0000;
/** The largest sizes of grids and blocks. */
const most = { grid: [0x7fff_ffff, 0xffff, 0xffff], block: [1024, 1024, 64] };
const three = (size) => (Array.isArray(size) ? [size[0], size[1] ?? 1, size[2] ?? 1] : [size, 1, 1]);
const product = ([x, y, z]) => x * y * z;
const unflattened = (n, [x, y]) => [n % x, Math.floor(n / x) % y, Math.floor(n / (x * y))];

/**
 * `description`: the JSON file, parsed; `bytes`: the module; `print` gets what each `printf` prints; `memoryOf`: a
 * kernel of the same program, the buffers and variables of which are this one's too.
 */
export async function loadKernel(description, bytes, { print = toConsole, memoryOf = null } = {}) {
  if (!knownFormats.includes(description?.format))
    throw new Error(`the description is not of the format "${knownFormats[0]}"`);
  if (bytes.byteLength !== description.size) throw new Error("the module is not the one that is described");
  if (description.fusedMultiplyAdd !== null) requireFused(description.fusedMultiplyAdd);
  if (memoryOf !== null && !memoryOf.memory.isFor(description.memory))
    throw new TypeError(`${description.kernel} and ${memoryOf.description.kernel} are not of one program`);
  const memory = memoryOf?.memory ?? new Memory(description.memory);
  return new Kernel(description, await WebAssembly.compile(bytes), memory, print);
}

const toConsole = (text) => console.log(text.replace(/\n$/, ""));

/** Throws where multiply-adds of the machine round twice: results would not be the same as elsewhere. */
function requireFused({ probe, ...cases }) {
  const bytes = fromBase64(probe);
  if (!WebAssembly.validate(bytes) && globalThis.process?.versions?.node?.startsWith("20.")) {
    process.getBuiltinModule("node:v8").setFlagsFromString("--experimental-wasm-relaxed-simd");
  }
  const isFused = () => {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
    return ["f32", "f64"].every((type) => exports[type](...cases[type].slice(0, 3)) === cases[type][3]);
  };
  if (!WebAssembly.validate(bytes) || !isFused()) throw new Error("this machine has no fused multiply-add");
}

/** What went wrong in a kernel: at a line, in a thread of a block. */
export class KernelFault extends Error {
  constructor(message, place) {
    const { source, line, kernel, thread, block, text } = place;
    super(`${source}:${line}: ${message} (kernel ${kernel}, thread (${thread}) of block (${block}): ${text})`);
    this.name = "KernelFault";
    Object.assign(this, place);
  }
}

/** A part of memory: a buffer, or a variable. */
class Buffer {
  #memory;
  #base;

  /** `base`: what is added to its first byte to make an address. */
  constructor(memory, at, size, name, base = BigInt(memory.layout.global.base)) {
    this.#memory = memory;
    this.#base = base;
    this.at = at;
    this.size = size;
    this.name = name;
  }

  isIn(memory) {
    return this.#memory === memory;
  }

  /** What kernels are given. */
  get address() {
    return this.#base + BigInt(this.at);
  }

  /** The bytes where they lie; good until more memory is allocated. */
  get bytes() {
    return this.#memory.bytes.subarray(this.at, this.at + this.size);
  }

  /** A copy as a typed array. */
  read(Type = Uint8Array) {
    return new Type(this.bytes.slice().buffer);
  }

  write(values) {
    if (values?.byteLength === undefined) throw new TypeError(`${this.name} is written from a typed array`);
    if (values.byteLength > this.size) throw new RangeError(`${this.name} has no room for ${values.byteLength} bytes`);
    this.bytes.set(ArrayBuffer.isView(values) ? bytesOf(values) : new Uint8Array(values));
    return this;
  }
}

/** A size of a launch by its name: `ntid.x`, `nctaid.x`, `nitems.x`, or how many dimensions it has. */
function sizeOf(name, grid, block) {
  const [what, dimension] = name.split(".");
  const d = "xyz".indexOf(dimension);
  switch (what) {
    case "ntid":
      return block[d];
    case "nctaid":
      return grid[d];
    case "nitems":
      return grid[d] * block[d];
    case "dimensions":
      return grid[2] * block[2] > 1 ? 3 : grid[1] * block[1] > 1 ? 2 : 1;
    default:
      throw new Error(`the kernel needs the size "${name}", which this loader does not know`);
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength);

/** What kernels of one program may have in common: variables, buffers, and room for contexts. */
class Memory {
  /** In the order of their addresses: buffers and global variables. */
  allocations = [];
  constants = [];
  #top;
  #views;

  /** `layout`: the description's `memory`. */
  constructor(layout) {
    const { free, global, const: constants } = layout;
    this.layout = layout;
    this.wasm = new WebAssembly.Memory({ initial: Math.ceil(free / page), maximum: 0xffff });
    this.#top = free;
    for (const { name, at, size, data } of global.variables) {
      const variable = new Buffer(this, at, size, name);
      if (data !== undefined) variable.write(fromBase64(data));
      this.allocations.push(variable);
    }
    for (const { name, at, size, data } of constants.variables) {
      const base = BigInt(constants.base) - BigInt(constants.at);
      const variable = new Buffer(this, constants.at + at, size, name, base);
      if (data !== undefined) variable.write(fromBase64(data));
      this.constants.push(variable);
    }
  }

  /** Whether a kernel with such a layout finds its variables here. */
  isFor(layout) {
    const variables = ({ free, global, const: constants }) => JSON.stringify([free, global, constants]);
    return variables(layout) === variables(this.layout);
  }

  get bytes() {
    return this.#view("u8", Uint8Array);
  }

  get words() {
    return this.#view("i32", Int32Array);
  }

  /** A view of all memory, made anew when that has grown. */
  #view(name, Type) {
    if (this.#views?.buffer !== this.wasm.buffer) this.#views = { buffer: this.wasm.buffer };
    return (this.#views[name] ??= new Type(this.wasm.buffer));
  }

  allocate(size, name) {
    const made = new Buffer(this, this.reserve(size), size, name);
    this.allocations.push(made);
    return made;
  }

  /** What cannot be had leaves everything as it was. */
  reserve(size) {
    const at = this.#top;
    const top = Math.ceil((at + size + gap) / 256) * 256;
    const missing = Math.ceil(top / page) - this.wasm.buffer.byteLength / page;
    if (missing > 0) this.#grow(missing, size);
    this.#top = top;
    return at;
  }

  #grow(pages, size) {
    try {
      this.wasm.grow(pages);
    } catch {
      const held = this.wasm.buffer.byteLength;
      throw new RangeError(`there is no room for ${size} bytes: the memory has ${held}, and can have 4 GiB at most`);
    }
  }
}

class Kernel {
  #run;
  #print;
  /** Contexts that nobody uses, by size. */
  #free = new Map();
  #clock = 0n;
  /** Those of the launch that runs. */
  #sharedVariables = [];
  /** Where the spaces begin that have no upper half of their own, the last one first. */
  #windows;

  constructor(description, module, memory, print) {
    this.description = description;
    this.memory = memory;
    this.#print = print;
    this.#windows = ["shared", "const", "params", "local"]
      .map((space) => ({ space, start: Number(description.memory[space].base) }))
      .sort((a, b) => b.start - a.start);
    const env = { memory: memory.wasm, ...this.#imports() };
    this.#run = new WebAssembly.Instance(module, { env }).exports.run;
  }

  /** So many zeros, or the bytes of a typed array. */
  buffer(contents, name = `a buffer of ${contents.byteLength ?? contents} bytes`) {
    const size = contents.byteLength ?? contents;
    if (!Number.isSafeInteger(size) || size < 0) throw new RangeError(`${contents} is not a number of bytes`);
    const made = this.memory.allocate(size, name);
    return typeof contents === "number" ? made : made.write(contents);
  }

  /** A variable of the program in global or constant memory. */
  variable(name) {
    const { global } = this.description.memory;
    const isGlobal = global.variables.some((v) => v.name === name);
    return this.memory[isGlobal ? "allocations" : "constants"].find((v) => v.name === name) ?? null;
  }

  /**
   * Runs the kernel to its end. `grid`: blocks; `block`: threads: a number, or up to three; `args`: numbers, buffers,
   * or typed arrays for what has no number; `shared`: bytes of dynamic shared memory.
   */
  launch({ grid, block, args = [], shared = this.description.sharedBytes ?? 0 } = {}) {
    const { waits, memory, context } = this.description;
    const sizes = { grid: three(grid), block: three(block), shared };
    this.#check(sizes);
    const launch = { ...sizes, params: this.#pack(args, sizes) };
    const { variables, dynamic } = memory.shared;
    this.#sharedVariables = [...variables, { name: "dynamic shared memory", at: dynamic, size: shared }];
    const bytes = context.shared + dynamic + shared;
    const blocks = product(launch.grid);
    const contexts = this.#free.get(bytes) ?? [];
    this.#free.set(bytes, contexts);
    const ready = [];
    const opened = [];
    const begin = () => {
      if (ready.length === 0 && opened.length < mostInFlight) {
        ready.push(contexts.pop() ?? this.memory.reserve(bytes));
        opened.push(ready[0]);
        this.#fill(ready[0], launch);
      }
      return ready.pop();
    };
    /** Blocks that wait for others, and where. */
    const waiting = [];
    const run = (at, from, to) => {
      const end = this.#run(at, from, to) >>> 0;
      if (end === to) ready.push(at);
      else waiting.push({ at, block: end });
      return end === to ? to : end + 1;
    };
    try {
      for (let next = 0; next < blocks || waiting.length > 0; ) {
        const at = next < blocks ? begin() : undefined;
        if (at !== undefined) next = run(at, next, waits ? next + 1 : blocks);
        const first = waiting.shift();
        if (first === undefined) continue;
        this.memory.words[(first.at + context.words.patience) >>> 2] = 4;
        run(first.at, first.block, first.block + 1);
      }
    } finally {
      contexts.push(...opened);
    }
  }

  #check({ grid, block, shared }) {
    const { block: wanted, mostThreads } = this.description;
    for (const [what, size] of Object.entries({ grid, block })) {
      if (!size.every((n, i) => Number.isInteger(n) && n > 0 && n <= most[what][i]))
        throw new RangeError(`a ${what} of (${size}) is not from (1,1,1) to (${most[what]})`);
    }
    if (wanted?.some((n, i) => n !== block[i]))
      throw new RangeError(`the kernel was built for blocks of (${wanted}) threads, not (${block})`);
    if (product(block) > mostThreads)
      throw new RangeError(`a block of ${product(block)} threads: the kernel can have ${mostThreads}`);
    if (product(grid) > 0xffff_ffff) throw new RangeError(`a grid of ${product(grid)} blocks is too large`);
    if (!Number.isInteger(shared) || shared < 0)
      throw new RangeError(`${shared} is not a number of bytes of shared memory`);
  }

  /** The arguments as the kernel's parameters lie in memory. */
  #pack(args, { grid, block }) {
    const { parameters, kernel, sizes = [], paramBytes } = this.description;
    if (args.length !== parameters.length) {
      const list = parameters.map(({ name, type }) => `${name} (${type})`).join(", ");
      throw new TypeError(`${kernel} has ${parameters.length} parameters, not ${args.length}: ${list}`);
    }
    const last = parameters.at(-1);
    const view = new DataView(new ArrayBuffer(paramBytes ?? (last === undefined ? 0 : last.offset + last.size)));
    for (const { offset, value } of sizes) view.setUint32(offset, sizeOf(value, grid, block), true);
    parameters.forEach(({ name, type, offset, size, also = [] }, i) => {
      // Nothing depends on it.
      if (type === "unused") return;
      const arg = this.#plain(args[i], `${name} (${type})`, type, size);
      if (ArrayBuffer.isView(arg)) {
        if (arg.byteLength !== size) throw new TypeError(`${name} has ${size} bytes, not ${arg.byteLength}`);
        new Uint8Array(view.buffer).set(bytesOf(arg), offset);
      } else if (type === "f32") view.setFloat32(offset, Number(arg), true);
      else if (type === "f64") view.setFloat64(offset, Number(arg), true);
      else if (type === "f16") throw new TypeError(`${name} (f16) is given as a typed array of 2 bytes`);
      else if (size === 8) view.setBigInt64(offset, BigInt(arg), true);
      else if (size === 4) view.setInt32(offset, Number(arg), true);
      else if (size === 2) view.setInt16(offset, Number(arg), true);
      else if (size === 1) view.setInt8(offset, Number(arg));
      else throw new TypeError(`${name} has ${size} bytes: give them as a typed array`);
      for (const at of also) new Uint8Array(view.buffer).copyWithin(at, offset, offset + size);
    });
    return new Uint8Array(view.buffer);
  }

  /** An argument as a number or as bytes. Numbers are in the range of their type, signed or not. */
  #plain(arg, parameter, type, size) {
    const isInteger = !type.startsWith("f");
    if (arg instanceof Buffer) {
      if (!arg.isIn(this.memory)) throw new TypeError(`${parameter}: ${arg.name} is of another kernel's memory`);
      if (!isInteger || size !== 8) throw new TypeError(`${parameter} holds no address`);
      return arg.address;
    }
    if (ArrayBuffer.isView(arg)) return arg;
    if (typeof arg !== "number" && typeof arg !== "bigint")
      throw new TypeError(`${parameter} is given ${arg === null ? "null" : typeof arg}`);
    if (!isInteger || type === "bytes") return arg;
    const isWhole = typeof arg === "bigint" || Number.isInteger(arg);
    const bits = BigInt(8 * size);
    if (!isWhole || arg < -(1n << (bits - 1n)) || arg >= 1n << bits)
      throw new RangeError(`${parameter} cannot be ${arg}`);
    return arg;
  }

  /** Makes a context ready for the blocks of a launch. */
  #fill(at, { grid, block, shared, params }) {
    const { context, memory } = this.description;
    const { words, bytes } = this.memory;
    const threads = product(block);
    const all = memory.shared.variables.reduce((sum, { size }) => sum + size, shared);
    const values = {
      ...Object.fromEntries(
        ["x", "y", "z"].flatMap((d, i) => [
          [`ntid.${d}`, block[i]],
          [`nctaid.${d}`, grid[i]],
        ]),
      ),
      nwarpid: Math.ceil(threads / 32),
      nsmid: 1,
      dynamic_smem_size: shared,
      total_smem_size: all,
      aggr_smem_size: all,
      threads,
      entry: at + context.calls,
      resumed: 0,
      patience: 1024,
    };
    for (const [name, value] of Object.entries(values)) words[(at + context.words[name]) >>> 2] = value;
    for (let t = 0; t < threads; t++) {
      unflattened(t, block).forEach((n, d) => {
        words[(at + context.threads + 4096 * d + 4 * t) >>> 2] = n;
      });
    }
    bytes.set(params, at + context.params);
    bytes.set(fromBase64(context.targets.data), at + context.targets.at);
    bytes.fill(0, at + context.records.at, at + context.records.end);
    context.roots.parameters.forEach((offset, i) => {
      const from = (at + context.params + offset) >>> 2;
      const found = this.#find(words[from] >>> 0, words[from + 1], at, 0);
      const root = (at + context.roots.at + 16 * i) >>> 2;
      words.set(found?.space === "global" ? [found.start, words[from + 1], found.size, 0] : [0, 0, 0, 0], root);
    });
  }

  /** What the module asks. All is told of a context and of one of the sites, with a bit for each lane. */
  #imports() {
    const { imports } = this.description;
    const known = {
      translate: (at, site, lanes) => this.#translate(at >>> 0, site, lanes),
      fault: (at, site, lanes) => this.#fail(this.description.sites[site].fails, at >>> 0, site, lanes),
      external: (at, site, lanes) => this.#external(at >>> 0, site, lanes),
      clock: () => ++this.#clock,
      stackOverflow: (at, lanes) => this.#fail("calls nest too deeply", at >>> 0, null, lanes),
      giveUp: (reason) => {
        const why = this.description.reasons?.[reason] ?? "calls that nest more deeply than WebAssembly's stack allows";
        throw new Error(`the module cannot go on: ${why}`);
      },
    };
    const unknown = (name) => () => {
      throw new Error(`the module asks for "${name}", which this loader does not have`);
    };
    return Object.fromEntries(imports.map((name) => [name, known[name] ?? unknown(name)]));
  }

  /** Finds the bytes of memory behind addresses that are in none of the places in which the module has looked. */
  #translate(at, number, lanes) {
    const { context, sites } = this.description;
    const { access, record } = sites[number];
    for (let lane = 0; lane < context.lanes; lane++) {
      const place = (at + context.places + 4 * lane) >>> 2;
      this.memory.words[place] = at + context.values;
      if ((lanes & (1 << lane)) === 0) continue;
      const from = (at + context.addresses + 8 * lane) >>> 2;
      const [low, high] = [this.memory.words[from] >>> 0, this.memory.words[from + 1] >>> 0];
      const found = this.#find(low, high, at, lane);
      const problem = found === null ? this.#neighbour(low, high, at, lane) : this.#problem(found, access, low);
      if (problem !== null) {
        const address = (BigInt(high) << 32n) + BigInt(low);
        this.#fail(`${access.bytes} bytes at 0x${address.toString(16)}: ${problem}`, at, number, 1 << lane);
      }
      this.memory.words[place] = found.at + low - found.start;
      if (record === undefined || found.space === "local") continue;
      this.memory.words.set(
        [found.start, high, found.size, found.at - found.start],
        (at + context.records.at + 16 * record) >>> 2,
      );
    }
  }

  #problem(found, { space, bytes, aligned, writes }, low) {
    const own = { "kernel-param": "params", "call-param": "local" }[space] ?? space;
    if (own !== "generic" && own !== found.space) return `that is in the ${found.space} space`;
    if (low + bytes > found.start + found.size) return `that goes beyond the end of ${found.name}`;
    if (low % aligned !== 0) return `the address is not a multiple of ${aligned}`;
    return writes && (found.space === "const" || found.space === "params") ? `${found.name} cannot be written` : null;
  }

  /**
   * The buffer or variable at an address, as a lane sees it: `size` bytes from the address `start` and the byte `at`
   * on.
   */
  #find(low, high, context, lane) {
    const place = this.#placeOf(low, high, context, lane);
    if (place === null) return null;
    const { space, start, at, variables } = place;
    const found = variables.findLast((v) => v.at <= low - start);
    if (found === undefined || low - start >= found.at + Math.max(1, found.size)) return null;
    return { space, name: found.name, size: found.size, start: start + found.at, at: at + found.at };
  }

  /** What an address is near to at which there is nothing. */
  #neighbour(low, high, context, lane) {
    const { start, variables } = this.#placeOf(low, high, context, lane) ?? { start: 0, variables: [] };
    const near = variables
      .flatMap(({ name, at, size }) => [
        { bytes: low - start - at - size, where: `after the end of ${name}` },
        { bytes: at + start - low, where: `before the beginning of ${name}` },
      ])
      .filter(({ bytes }) => bytes >= 0 && bytes < nearby)
      .sort((a, b) => a.bytes - b.bytes)[0];
    return near === undefined ? "no buffer or variable is there" : `that is ${near.bytes} bytes ${near.where}`;
  }

  /** The space in which an address lies: the addresses from `start` on, and the byte `at` where they are in memory. */
  #placeOf(low, high, context, lane) {
    const { memory, context: places, parameters } = this.description;
    const upper = (base) => Number(BigInt(base) >> 32n);
    if (high === upper(memory.global.base))
      return { space: "global", start: 0, at: 0, variables: this.memory.allocations };
    if (high !== 0 && high !== upper(memory.generic)) return null;
    const window = this.#windows.find(({ start }) => start <= low);
    if (window === undefined) return null;
    switch (window.space) {
      case "shared":
        return { ...window, at: context + places.shared, variables: this.#sharedVariables };
      case "params": {
        const variables = parameters.map(({ name, offset, size }) => ({ name, at: offset, size }));
        return { ...window, at: context + places.params, variables };
      }
      case "local": {
        const { stride } = memory.local;
        const stack = (this.memory.words[(context + places.words.stacks) >>> 2] >>> 0) + lane * stride;
        return { ...window, at: stack, variables: [{ name: "the thread's stack", at: 0, size: stride }] };
      }
      default:
        return { ...window, at: memory.const.at, variables: memory.const.variables };
    }
  }

  /** Ends the launch: because of the lowest of some lanes of the chunk that runs. */
  #fail(message, at, number, lanes) {
    const { context, sites, kernel, source } = this.description;
    const word = (name) => this.memory.words[(at + context.words[name]) >>> 2];
    const size = (what) => ["x", "y", "z"].map((d) => word(`${what}.${d}`));
    const lane = 31 - Math.clz32(lanes & -lanes);
    const thread = unflattened(word("first") + lane, size("ntid"));
    const block = unflattened(word("ticket"), size("nctaid"));
    const { line, text } = number === null ? { line: 1, text: "a call" } : sites[number];
    throw new KernelFault(message, { source, line, kernel, thread, block, text });
  }

  /** Calls of `vprintf`, lane by lane; everything else was refused when the module was built. */
  #external(at, number, lanes) {
    const { context, sites } = this.description;
    const { calls } = sites[number];
    if (calls !== "vprintf") this.#fail(`the loader has no function ${calls}`, at, number, lanes);
    for (let lane = 0; lane < context.lanes; lane++) {
      if ((lanes & (1 << lane)) === 0) continue;
      const view = new DataView(this.memory.bytes.buffer);
      const arg = (i) => view.getBigUint64(at + context.args + 8 * (i * context.lanes + lane), true);
      const byteAt = (address) => {
        const [low, high] = [Number(address & 0xffff_ffffn), Number(address >> 32n)];
        const found = this.#find(low, high, at, lane);
        if (found === null) this.#fail(`printf is given the address 0x${address.toString(16)}`, at, number, 1 << lane);
        return found.at + low - found.start;
      };
      const string = (address) => {
        const from = byteAt(address);
        return new TextDecoder().decode(this.memory.bytes.slice(from, this.memory.bytes.indexOf(0, from)));
      };
      let offset = 0;
      const next = (size) => {
        const place = Math.ceil(offset / size) * size;
        offset = place + size;
        return byteAt(arg(1) + BigInt(place));
      };
      const integer = (long) => (long ? view.getBigInt64(next(8), true) : BigInt(view.getInt32(next(4), true)));
      this.#print(format(string(arg(0)), { integer, double: () => view.getFloat64(next(8), true), string }));
      view.setBigInt64(at + context.values + 8 * lane, 0n, true);
    }
  }
}

/** The conversions of C's printf that kernels use most: others throw. */
function format(text, { integer, double, string }) {
  const conversion = /%([-+ #0]*)(\*|\d*)(?:\.(\*|-?\d*))?(hh|h|ll|l|j|z|t|L)?([\s\S])/g;
  return text.replace(conversion, (whole, flags, width, precision, length, letter) => {
    const long = length !== undefined;
    const unsigned = () => BigInt.asUintN(long ? 64 : 32, integer(long));
    const conversions = {
      "%": () => "%",
      d: () => `${integer(long)}`,
      i: () => `${integer(long)}`,
      u: () => `${unsigned()}`,
      x: () => unsigned().toString(16),
      X: () => unsigned().toString(16).toUpperCase(),
      c: () => String.fromCharCode(Number(integer(false) & 0xffn)),
      s: () => string(BigInt.asUintN(64, integer(true))),
      p: () => `0x${BigInt.asUintN(64, integer(true)).toString(16)}`,
      f: () => float(double(), fixed, precision ?? 6),
      e: () => float(double(), scientific, precision ?? 6),
    };
    const isKnown =
      conversions[letter] !== undefined &&
      /^[-0]*$/.test(flags) &&
      /^\d*$/.test(width) &&
      (precision === undefined || ("fe".includes(letter) && /^\d*$/.test(precision))) &&
      (length === undefined || /^(ll?|z)$/.test(length));
    if (!isKnown) throw new Error(`this loader does not print ${whole}`);
    const body = conversions[letter]();
    if (flags.includes("-")) return body.padEnd(Number(width));
    if (!flags.includes("0") || /inf|nan/.test(body)) return body.padStart(Number(width));
    return body.startsWith("-")
      ? `-${body.slice(1).padStart(Number(width) - 1, "0")}`
      : body.padStart(Number(width), "0");
  });
}

/** A double with its sign, as C has it: `digits` prints one that is finite and not negative. */
function float(value, digits, precision) {
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  if (!Number.isFinite(value)) return sign + (Number.isNaN(value) ? "nan" : "inf");
  return sign + digits(Math.abs(value), Number(precision));
}

/** `value * 10^power`, rounded to an integer, ties to even. `toFixed` and `toExponential` round ties up. */
function scaled(value, power) {
  const bits = new BigUint64Array(Float64Array.of(value).buffer)[0];
  const exponent = Number(bits >> 52n);
  const mantissa = (bits & 0xf_ffff_ffff_ffffn) | (exponent === 0 ? 0n : 1n << 52n);
  const shift = Math.max(exponent, 1) - 1075;
  const over = mantissa * 10n ** BigInt(Math.max(power, 0)) * 2n ** BigInt(Math.max(shift, 0));
  const under = 10n ** BigInt(Math.max(-power, 0)) * 2n ** BigInt(Math.max(-shift, 0));
  const [quotient, twice] = [over / under, 2n * (over % under)];
  return twice > under || (twice === under && quotient % 2n === 1n) ? quotient + 1n : quotient;
}

function fixed(value, precision) {
  const digits = `${scaled(value, precision)}`.padStart(precision + 1, "0");
  const point = digits.length - precision;
  return precision === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
}

function scientific(value, precision) {
  let power = value === 0 ? 0 : Math.floor(Math.log10(value));
  let digits = value === 0 ? "0".repeat(precision + 1) : "";
  // The logarithm may be off by one, and rounding may give a digit more.
  while (digits.length !== precision + 1) {
    if (digits !== "") power += digits.length > precision + 1 ? 1 : -1;
    digits = `${scaled(value, precision - power)}`;
  }
  const exponent = `e${power < 0 ? "-" : "+"}${`${Math.abs(power)}`.padStart(2, "0")}`;
  return digits[0] + (precision > 0 ? `.${digits.slice(1)}` : "") + exponent;
}
