import { expect, test } from "vitest";
import { displayName, matchName, nameHints, readable } from "../../src/names/index.ts";

const kernels = [
  "_Z6reducePKfPfi",
  "_Z5scaleIfEvPT_S0_i",
  "_Z5scaleIdEvPT_S0_i",
  "_ZN2ns6reduceEPi",
  "_ZN2ns5showsEPi",
  "_ZN2ns6reduceEPiS0_",
  "_Z8variadicILi4ELb1EJifEEvDpPT1_",
  "_Z8countingPKjPy",
  "plain",
];

test.each([
  ["_Z6reducePKfPfi", [0]],
  ["plain", [8]],
  ["reduce", [0]],
  ["::reduce", [0]],
  ["reduce(float const*, float*, int)", [0]],
  ["reduce(float const *,float*,int)", [0]],
  [" reduce ( const float * , float * , int ) ", [0]],
  ["reduce(float*, float*, int)", []],
  ["scale", [1, 2]],
  ["scale<float>", [1]],
  ["scale< double >", [2]],
  ["scale<float>(float*, float, int)", [1]],
  ["scale(float*, float, int)", [1]],
  ["void scale<float>(float*, float, int)", [1]],
  ["ns::reduce", [3, 5]],
  ["ns::reduce(int*)", [3]],
  ["ns::shows", [4]],
  ["shows", [4]],
  ["shows(int*)", [4]],
  ["variadic", [6]],
  ["variadic<4,true,int,float>", [6]],
  ["counting(const unsigned*, unsigned long long*)", [7]],
  ["counting(unsigned int const*, unsigned long long*)", [7]],
  ["", []],
  ["s", []],
  ["ns", []],
  ["<", []],
  ["reduce(", []],
  [")))", []],
])("%j is %j", (wanted, found) => {
  expect(matchName(wanted, kernels)).toEqual(found.map((i) => kernels[i]));
});

test("hints have the names by which a function is found", () => {
  for (const kernel of kernels) {
    for (const hint of nameHints(kernel)) expect(matchName(hint, [kernel])).toEqual([kernel]);
  }
});

test.each([
  ["plain", "plain"],
  ["_Z6reducePKfPfi", "reduce(float const*, float*, int)"],
  ["_Z5scaleIfEvPT_S0_i", "scale<float>(float*, float, int)"],
  [
    // A signature of more than 120 characters; the name alone is shorter.
    `_Z4longPN${"10namespaces".repeat(12)}1AE`,
    "long",
  ],
  [`_Z10myoperatorIN${"10namespaces".repeat(12)}1AEEvT_`, "myoperator<...>"],
  [`_ZlsIN${"10namespaces".repeat(12)}1AEEvT_`, "operator<< <...>"],
  [`_Z4longIN${"10namespaces".repeat(12)}1AEEvT_`, "long<...>"],
])("%s is shown as %s", (mangled, shown) => {
  expect(displayName(mangled)).toBe(shown);
});

test.each([
  ["calls `_Z6helperi` twice", "calls `helper(int)` twice"],
  ['kernel "_ZN2ns5showsEPi": a block', 'kernel "ns::shows(int*)": a block'],
  ["`_Z6helperi_param_0` (.u32)", "`parameter 0 of helper(int)` (.u32)"],
  ["_Z is no name, _Z1 neither, a_Z6helperi nor", "_Z is no name, _Z1 neither, a_Z6helperi nor"],
  ["of `_Z1fPi._ZZ1fPiE4part` (4 bytes)", "of `f(int*)::part` (4 bytes)"],
  ["nothing", "nothing"],
])("%s reads %s", (prose, want) => {
  expect(readable(prose)).toBe(want);
});
