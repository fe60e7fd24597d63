import { elementInfo, type ElementType } from "../data/element.ts";
import type { Init } from "./init.ts";
import { readElement, readHex } from "./job-value.ts";
import type { JsonField } from "./json-fields.ts";

/** Reads the initial contents of `n` elements. Default: zeros. */
export function readInit(field: JsonField, type: ElementType, n: number): Init {
  if (!field.present) return { gen: "zero" };
  const known = ["gen", "value", "start", "step", "values", "data", "path", "seed", "lo", "hi", "mod", "add", "scale"];
  field.object(known);
  const element = (name: string, absent: number): number | bigint =>
    field.get(name).present ? readElement(field.get(name), type) : absent;
  const float = (name: string, absent: number): number => (field.get(name).present ? field.get(name).float() : absent);
  switch (field.get("gen").oneOf(["zero", "fill", "iota", "list", "hex", "file", "lcg"])) {
    case "zero":
      return { gen: "zero" };
    case "fill":
      return { gen: "fill", value: readElement(field.get("value"), type) };
    case "iota":
      return { gen: "iota", start: element("start", 0), step: element("step", 1) };
    case "file":
      return { gen: "file", path: field.get("path").string() };
    case "hex": {
      const data = readHex(field.get("data"));
      const bytes = n * elementInfo[type].size;
      if (data.length !== bytes) field.get("data").fail(`has ${data.length} bytes, the buffer ${bytes}`);
      return { gen: "bytes", data };
    }
    case "list": {
      const values = field.get("values").items();
      if (values.length !== n) field.get("values").fail(`has ${values.length} values, the buffer ${n} elements`);
      return { gen: "list", values: values.map((value) => readElement(value, type)) };
    }
    case "lcg": {
      const mod = field.get("mod");
      return {
        gen: "lcg",
        seed: field.get("seed").count(0, 0xffff_ffff),
        lo: float("lo", 0),
        hi: float("hi", 1),
        mod: mod.present ? mod.count(1, 0xffff_ffff) : null,
        add: float("add", 0),
        scale: float("scale", 1),
      };
    }
  }
}
