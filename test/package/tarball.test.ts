import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publint } from "publint";
import { rolldown } from "rolldown";
import { afterAll, expect, test } from "vitest";

const root = new URL("../..", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "lanewise-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (file: string, args: readonly string[], cwd = folder): string =>
  execFileSync(file, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** `npm test` has built dist/ before. */
test("the packed tarball installs and runs", () => {
  run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], root);
  const tarball = readdirSync(folder).find((f) => f.endsWith(".tgz"))!;
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  run("npm", ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", `./${tarball}`]);
  const cli = join(folder, "node_modules/.bin/lanewise");
  const { version, dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    version: string;
    dependencies?: unknown;
  };
  expect(run(cli, ["--version"]).trim()).toContain(version);
  expect(dependencies).toBeUndefined();
  writeFileSync(
    join(folder, "use.mjs"),
    `import { Device } from "lanewise";
     import { openKernelFolder } from "lanewise/node";
     import { parsePtx, printPtx } from "lanewise/ptx";
     import { SourceText } from "lanewise/source";
     const text = \`.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) { .reg .u64 o; .reg .u32 t; ld.param.u64 o, [out]; mov.u32 t, %tid.x;
  mad.wide.u32 o, t, 4, o; mul.lo.u32 t, t, t; st.global.u32 [o], t; ret; }\`;
     const kernelStore = openKernelFolder({ path: "cache" });
     if (kernelStore === null) throw new Error("the package has no build-id");
     const device = new Device({ kernelStore });
     const out = device.buffer("u32", 8);
     const { ok } = device.load(text).kernel("k").launch({ grid: 1, block: 8, args: [out] });
     const { tree } = parsePtx(new SourceText("k.ptx", text));
     console.log(ok, [...out.read()].join(" "), printPtx(tree).split("\\n").length > 10);`,
  );
  expect(run(process.execPath, ["use.mjs"]).trim()).toBe("true 0 1 4 9 16 25 36 49 true");
  // The kernel, for which shape of launches it is, what it knows of its threads, its first launch, and the machine's
  // features.
  expect(readdirSync(join(folder, "cache/kernels"))).toHaveLength(5);
});

test("the package's rooms are loaded when they are needed, in a bundle of them too", async () => {
  cpSync(join(root, "examples/saxpy.ptx"), join(folder, "saxpy.ptx"));
  writeFileSync(
    join(folder, "rooms.mjs"),
    `import { readFileSync } from "node:fs";
     import { buildKernel, checkSource, Device, NotStandaloneError, SourceText } from "lanewise";
     const text = readFileSync("saxpy.ptx", "utf8");
     const device = new Device();
     const [x, y] = [device.buffer(new Float32Array([1, 2, 3, 4])), device.buffer("f32", 4)];
     const launch = { grid: 1, block: 32, args: [4, 2.5, x, y], sanitize: "all" };
     const saxpy = device.load(text).kernel();
     const { ok, engine } = saxpy.launch({ ...launch, seed: 1 });
     console.log(ok, engine, saxpy.launch(launch).engine, saxpy.launch({ ...launch, sanitize: [] }).engine);
     console.log(...y.read());
     const visa = '.version 3.6\\n.kernel "k"\\n.decl A v_type=G type=ud num_elts=16 align=GRF\\n' +
       '.kernel_attr SimdSize=16\\n.kernel_attr Target="3d"\\n.function "k_main"\\n\\nk_main:\\n    ret (M1, 1)\\n';
     console.log(new Device().load(visa, { isa: "visa" }).isa, checkSource(new SourceText("a.ptx", text)).diagnostics);
     console.log(buildKernel({ path: "saxpy.ptx", text }).description.kernel, typeof NotStandaloneError);`,
  );
  const printed = "true interpreter jit jit\n7.5 15 22.5 30\nvisa []\nsaxpy function";
  expect(run(process.execPath, ["rooms.mjs"]).trim()).toBe(printed);
  const bundle = await rolldown({ input: join(folder, "rooms.mjs"), platform: "node" });
  await bundle.write({ file: join(folder, "bundled.mjs") });
  expect(run(process.execPath, ["bundled.mjs"]).trim()).toBe(printed);
});

test("what the package's command builds, the package's loader launches", () => {
  cpSync(join(root, "examples/saxpy.ptx"), join(folder, "saxpy.ptx"));
  run(join(folder, "node_modules/.bin/lanewise"), ["build", "saxpy.ptx", "-o", "saxpy.wasm"]);
  writeFileSync(
    join(folder, "launch.mjs"),
    `import { readFileSync } from "node:fs";
     import { loadKernel } from "lanewise/loader";
     const description = JSON.parse(readFileSync("saxpy.json", "utf8"));
     const saxpy = await loadKernel(description, readFileSync(description.module));
     const [x, y] = [saxpy.buffer(new Float32Array([1, 2, 3, 4])), saxpy.buffer(16)];
     saxpy.launch({ grid: 1, block: 4, args: [4, 2.5, x, y] });
     console.log(y.read(Float32Array).join(" "));`,
  );
  expect(run(process.execPath, ["launch.mjs"]).trim()).toBe("2.5 5 7.5 10");
  expect(run(process.execPath, ["node_modules/lanewise/examples/standalone/run.mjs", "saxpy.wasm"]).trim()).toBe(
    "2.5 5 7.5 10",
  );
});

test("publint finds nothing to say about the package", async () => {
  expect((await publint({ pkgDir: root, pack: false, strict: true })).messages).toEqual([]);
});
