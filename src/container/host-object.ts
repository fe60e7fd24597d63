import { ByteView } from "./byte-view.ts";
import { type Elf, type ElfSymbol, isElf, neededBy, readElf, sectionBytes, symbolsOf } from "./elf.ts";

const functionSymbol = 2;
const sharedObject = 3;

/** A program of the host, or a library of one, as far as addresses in it have names. */
export class HostObject {
  readonly #view: ByteView;
  readonly #elf: Elf;
  #functions: readonly ElfSymbol[] | null = null;

  private constructor(view: ByteView) {
    this.#view = view;
    this.#elf = readElf(view);
  }

  /**
   * Null if it is no ELF file.
   *
   * @throws ContainerError if it is damaged
   */
  static read(bytes: Uint8Array, what: string): HostObject | null {
    const view = new ByteView(bytes, what);
    return isElf(view) ? new HostObject(view) : null;
  }

  /** Whether it may be loaded anywhere: its addresses count from where it is. */
  get isMovable(): boolean {
    return this.#elf.type === sharedObject;
  }

  /** The libraries that the loader has to find for it, by the names by which it asks. */
  get needed(): readonly string[] {
    return [...neededBy(this.#view, this.#elf)];
  }

  /** The bytes of a section by its name; null if there is none. */
  section(name: string): Uint8Array | null {
    const found = this.#elf.sections.find((s) => s.name === name);
    return found === undefined ? null : sectionBytes(this.#view, found);
  }

  /** The name of the function around an address; null if the file is stripped. */
  functionAt(address: number): string | null {
    this.#functions ??= [...symbolsOf(this.#view, this.#elf)]
      .filter(({ kind, value }) => kind === functionSymbol && value !== 0)
      .sort((a, b) => a.value - b.value);
    return this.#functions.findLast(({ value }) => value <= address)?.name ?? null;
  }
}
