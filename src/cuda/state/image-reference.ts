import type { Image } from "../../machine/images/image.ts";
import type { AddressMode } from "../../numeric/texture-coordinates.ts";
import type { ModuleVariable } from "../../runtime/data/module-variable.ts";
import { newHandle } from "../base/handles.ts";
import type { ChannelFormat } from "./cuda-array.ts";

/** A texture or surface reference: a variable of a module, and what a program has set of it. */
export class ImageReference {
  readonly handle = newHandle();
  /** Null for one that belongs to no module. */
  readonly variable: ModuleVariable | null;
  image: Image | null = null;
  resource: "array" | "linear" | "pitch" | null = null;
  array: bigint | null = null;
  /** The memory that is bound. */
  memory: bigint | null = null;
  format: ChannelFormat | null = null;
  readonly address: AddressMode[] = ["wrap", "wrap", "wrap"];
  filter: "point" | "linear" = "point";
  mipFilter: "point" | "linear" = "point";
  flags = 0;
  maxAnisotropy = 1;
  border: readonly number[] = [0, 0, 0, 0];
  /** The handle that the variable holds. */
  bound: bigint | null = null;

  constructor(variable: ModuleVariable | null) {
    this.variable = variable;
  }
}
