import { expect, test } from "vitest";
import { linkVisaFiles } from "../../../src/runtime/visa/check.ts";

/** What is said of a function that no file has. */
function said(name: string): string {
  const text = `.version 3.6
.kernel "k"
.decl F v_type=G type=uq num_elts=1 align=qword
.function "k_main"
k_main:
    faddr ${name} F(0,0)<1>
    ret (M1, 1)
`;
  const { diagnostics } = linkVisaFiles([{ path: "k.visaasm", text }]);
  expect(diagnostics.map(({ code }) => code)).toEqual(["visa-unknown-function"]);
  expect(diagnostics[0]!.message).toContain(`\`${name}\``);
  return diagnostics[0]!.help!;
}

// IGC 1.0.12504 leaves these names in what it compiles from public OpenCL kernels, for devices or versions of the
// language whose library lacks them.
test.each([
  "__builtin_IB_sub_group_idpas_s8_s8_8_8",
  "_Z30__spirv_SubgroupImageBlockRead",
  "__igcbuiltin_device_enqueue",
])("%s is a builtin of the compiler", (name) =>
  expect(said(name)).toMatch(/^it is a builtin that IGC found in none of its libraries/),
);

test("a mangled name may be a builtin of OpenCL C: dot_acc_sat_4x8packed_ss_int(int, uint, uint, int)", () => {
  expect(said("_Z28dot_acc_sat_4x8packed_ss_intjji")).toMatch(
    /^if OpenCL C has it, IGC found it in none .* otherwise pass the file/,
  );
});

test("any other is a function of the program, or data", () => {
  expect(said("scale")).toMatch(/^pass the file that has it/);
});
