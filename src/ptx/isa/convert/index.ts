import { instruction } from "../define.ts";
import { floatForms } from "./float.ts";
import { floatIntegerForms } from "./float-integer.ts";
import { halfForms } from "./half.ts";
import { integerForms } from "./integer.ts";
import { minifloatForms } from "./minifloat.ts";
import { cvtPack } from "./pack.ts";
import { scaleForms } from "./scale.ts";

/** Section 9.7.9.21. */
const cvt = instruction("cvt", {
  summary: "converts a value from one type to another",
  section: "9.7.9.21",
  forms: [...integerForms, ...floatIntegerForms, ...floatForms, ...halfForms, ...minifloatForms, ...scaleForms],
});

/** Sections 9.7.9.21 and 9.7.9.22. */
export const convertInstructions = [cvt, cvtPack] as const;
