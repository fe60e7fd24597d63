import { describe, expect, test } from "vitest";
import { writePng } from "../../src/cli/terminal/png.ts";
import { writeNumpy } from "../../src/index.ts";
import { fixture } from "../container/fixtures.ts";
import { zipOf } from "../container/zip-of.ts";
import { chromiumPath, eventually, fileOf, missingFor, patience, type PlaygroundPage, whileOpen } from "./page.ts";

/* What is edited and brought along: names, several files, other kernels, data from files. */

const missing = missingFor(chromiumPath, "Chromium");
const title = missing === null ? "editing in the page" : `editing in the page (skipped: ${missing} on this machine)`;

/** `out[i] = in[i]`, in bytes, and a kernel of another name that adds 1. */
const copy = `.version 8.0
.target sm_75
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to)
{
    .reg .b32 %i, %v;
    .reg .b64 %f, %t, %o;
    mov.u32 %i, %tid.x;
    cvt.u64.u32 %o, %i;
    ld.param.u64 %f, [from];
    ld.param.u64 %t, [to];
    add.u64 %f, %f, %o;
    add.u64 %t, %t, %o;
    ld.global.u8 %v, [%f];
    st.global.u8 [%t], %v;
    ret;
}
.visible .entry count(.param .u64 into)
{
    .reg .b32 %i;
    .reg .b64 %t;
    mov.u32 %i, %tid.x;
    ld.param.u64 %t, [into];
    mad.wide.u32 %t, %i, 4, %t;
    add.u32 %i, %i, 100;
    st.global.u32 [%t], %i;
    ret;
}
`;

describe.skipIf(missing !== null)(title, () => {
  let playground: PlaygroundPage;
  let page: PlaygroundPage["page"];
  whileOpen((opened) => {
    playground = opened;
    ({ page } = opened);
  });

  const palette = { title: () => page.locator(".palette h2").textContent() };

  test("all uses of the name at the cursor are marked, and can be listed", async () => {
    await page.locator(".cm-line", { hasText: "mul.lo.u32" }).getByText("%x").first().click();
    // The function `square` declares its own %x: in it are the declaration and five uses.
    await eventually(() => page.locator(".cm-use").count()).toBe(6);
    await page.keyboard.press("Shift+F12");
    await eventually(() => palette.title()).toBe("6 uses");
    await page.keyboard.press("Escape");
  });

  test("one goes to a name of the program, and from a function to its callers", async () => {
    await page.keyboard.press("Control+Shift+o");
    await eventually(() => palette.title()).toBe("Go to a name");
    await page.keyboard.type("square");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Shift+Alt+h");
    await eventually(() => palette.title()).toBe("Calls of square");
    // Through the table: line 40 calls what it has loaded from there.
    expect(await page.locator(".palette li").allTextContents()).toEqual(["called at double-or-square.ptx:40apply"]);
    await page.keyboard.press("Escape");
  });

  test(
    "a pasted program: the lens of a kernel makes the job launch it, with arguments that fit",
    async () => {
      await playground.example("squares", "Squares");
      await playground.write(copy);
      await page.getByRole("button", { name: "Run count" }).click();
      await eventually(() => playground.status).toMatch(/^Done/);
      const values = await page.locator(".buffer", { hasText: "into" }).locator("td").allTextContents();
      expect(values.slice(0, 32).map(Number)).toEqual(Array.from({ length: 32 }, (_, i) => 100 + i));
    },
    patience,
  );

  test(
    "the form offers the kernels of the program",
    async () => {
      await playground.file("Launch");
      await page.getByRole("combobox", { name: "Kernel of launch 1" }).selectOption("copy");
      await eventually(() => page.getByRole("combobox", { name: "Buffer of argument 1" }).count()).toBe(1);
      await eventually(() => page.locator(".argument .label").allTextContents()).toEqual(["from .u64", "to .u64"]);
      expect(await page.getByRole("combobox", { name: "Buffer of argument 1" }).inputValue()).toBe("to");
    },
    patience,
  );

  test(
    "an .npy file gives a buffer its type and its elements",
    async () => {
      const bytes = writeNumpy({
        type: "f32",
        shape: [2, 2],
        bytes: new Uint8Array(Float32Array.of(0.5, -2, 3, 8).buffer),
      });
      await playground.drop([{ name: "four.npy", bytes: [...bytes] }]);
      await eventually(() => playground.status).toMatch(/^Added four\.npy/);
      await page.getByRole("combobox", { name: "What fills from" }).selectOption("four.npy");
      expect(await page.getByRole("combobox", { name: "Type of the elements of from" }).inputValue()).toBe("f32");
      expect(await page.getByRole("spinbutton", { name: "Elements of from" }).inputValue()).toBe("4");
      await page.getByRole("spinbutton", { name: "Threads of a block, x" }).fill("16");
      await playground.show("Results");
      await playground.run();
      const cells = page.locator(".buffer", { hasText: "f32[4]" }).locator("td");
      await eventually(async () => (await cells.allTextContents()).slice(0, 4)).toEqual(["0.5", "-2", "3", "8"]);
    },
    patience,
  );

  test(
    "a picture fills a buffer, and what a kernel makes of it is seen as a picture of the same size",
    async () => {
      // Two by three pixels: red, green, blue, white, black, gray.
      const values = Uint8Array.of(255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 128, 128, 128);
      const bytes = writePng({ width: 2, height: 3, channels: 3, bits: 8, values });
      await playground.drop([{ name: "six.png", bytes: [...bytes] }]);
      await eventually(() => playground.status).toMatch(/^Added six\.png/);
      await page.getByRole("combobox", { name: "What fills from" }).selectOption("six.png");
      expect(await page.getByRole("spinbutton", { name: "Elements of from" }).inputValue()).toBe("18");
      await page.getByRole("combobox", { name: "Type of the elements of to" }).selectOption("u8");
      await page.getByRole("spinbutton", { name: "Elements of to" }).fill("18");
      await page.getByRole("spinbutton", { name: "Threads of a block, x" }).fill("18");
      await playground.run();
      await page.getByRole("combobox", { name: "How to is shown" }).selectOption("picture");
      expect(await page.getByRole("img", { name: "to as a picture, from 0 to 255" }).count()).toBe(1);
      const pixels = await page.evaluate(`(() => {
        const { width, height } = document.querySelector("canvas.picture");
        const pen = document.querySelector("canvas.picture").getContext("2d");
        return { width, height, data: [...pen.getImageData(0, 0, width, height).data] };
      })()`);
      const rgba = Array.from({ length: 6 }, (_, i) => [...values.subarray(3 * i, 3 * i + 3), 255]).flat();
      expect(pixels).toEqual({ width: 2, height: 3, data: rgba });
      await page.getByRole("combobox", { name: "How to is shown" }).selectOption("plot");
      expect(await page.getByRole("img", { name: "to as a line, from 0 to 255" }).count()).toBe(1);
    },
    patience,
  );

  test("a picture that is none: it is said what is wrong", async () => {
    await playground.drop([{ name: "broken.png", bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0] }]);
    await eventually(() => playground.status).toMatch(/the PNG file/);
    await playground.drop([{ name: "broken.jpg", bytes: [1, 2, 3] }]);
    await eventually(() => playground.status).toMatch(/broken\.jpg is no picture/);
    await playground.drop([{ name: "broken.npy", bytes: [0x93, 1] }]);
    await eventually(() => playground.status).toMatch(/not an \.npy file/);
  });

  test(
    "a second file is linked with the first, and can be removed",
    async () => {
      await playground.example("squares", "Squares");
      page.once("dialog", (dialog) => void dialog.accept("more.ptx"));
      await page.getByRole("button", { name: "New file" }).click();
      await eventually(() => page.getByRole("button", { name: "more.ptx", exact: true }).count()).toBe(1);
      await page.locator(".cm-content").press("Control+End");
      await page.keyboard.insertText(".visible .entry other(.param .u64 x)\n{\n    ret;\n}\n");
      await page.getByRole("button", { name: "Run other" }).click();
      await eventually(() => playground.status).toMatch(/^Done/);
      await page.getByRole("button", { name: "Remove more.ptx" }).click();
      await playground.file("job.json");
      expect(await page.locator(".cm-content").textContent()).not.toContain("more.ptx");
    },
    patience,
  );

  test(
    "an archive of IGC's dumps is opened with arguments that fit, and what one gives for them counts",
    async () => {
      const dumps = zipOf({ "OCL_asm1.progbin": fixture("scale.bin"), "readme.txt": "" }, true);
      await playground.drop([{ name: "dumps.zip", bytes: [...dumps] }]);
      await eventually(() => playground.status).toMatch(/^Opened dumps\.zip\./);
      await playground.file("Launch");
      const factor = page.getByRole("spinbutton", { name: "Value of argument 1" });
      expect(await factor.inputValue()).toBe("1");
      await factor.fill("2.5");
      await playground.run();
      const values = await page.locator(".buffer").first().locator("td").allTextContents();
      expect(values.slice(0, 32).map(Number)).toEqual(Array.from({ length: 32 }, (_, i) => 2.5 * i));
    },
    patience,
  );

  test(
    "a vISA kernel written by hand is launched with what the sizes of its inputs suggest",
    async () => {
      await playground.drop([fileOf("examples/two-functions/double-or-square.isaasm", "double-or-square.isaasm")]);
      await eventually(() => playground.status).toMatch(/^Opened double-or-square\.isaasm\./);
      await playground.run();
      const values = await page.locator(".buffer", { hasText: "OUT" }).locator("td").allTextContents();
      // As docs/visa.md says of it: even lanes double their number, odd ones square it, and each adds its number.
      const wanted = Array.from({ length: 16 }, (_, i) => (i % 2 === 0 ? 2 * i : i * i) + i);
      expect(values.slice(0, 16).map(Number)).toEqual(wanted);
    },
    patience,
  );
});
