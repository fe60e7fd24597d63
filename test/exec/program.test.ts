import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BuiltCli } from "../cli/built-cli.ts";
import { builtExec, whyNotNative } from "./native-libraries.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const why = whyNotNative();
if (why !== null) console.warn(`programs are not run: ${why}`);

describe.skipIf(why !== null)("programs that nvcc has made", () => {
  let cli: BuiltCli;
  beforeAll(async () => {
    cli = await builtExec();
    for (const name of ["reduce", "sum", "sum.cu"]) cpSync(join(root, "examples/cuda", name), join(cli.work, name));
  });
  afterAll(() => cli?.remove());

  // 64 numbers from 0 on.
  test("run as they are", () => {
    expect(cli.run("exec", "./sum")).toMatchObject({ status: 0, stdout: "2016\n", stderr: "" });
  });

  test("a race that their own check does not see is found", () => {
    const { status, stdout, stderr } = cli.run("exec", "--sanitize", "race", "./sum");
    expect({ status, stdout }).toEqual({ status: 3, stdout: "2016\n" });
    expect(stderr).toMatch(/sum\.cu:10:\d+: error: .*\[data-race\]/);
    expect(stderr).toContain("256 bytes of cudaMalloc are never freed");
  });

  // -lineinfo names the source where it was compiled, which is nowhere here.
  test("the source beside the program is shown, and that in a folder that is named", () => {
    cli.write("elsewhere/sum.cu", readFileSync(join(root, "examples/cuda/sum.cu")));
    mkdirSync(join(cli.work, "bin"));
    for (const name of ["sum", "sum.cu"]) cpSync(join(root, "examples/cuda", name), join(cli.work, "bin", name));
    cpSync(join(root, "examples/cuda/sum"), join(cli.work, "alone/sum"));
    const line = /10 \| +if \(t < d\) s\[t\] \+= s\[t \+ d\];/;
    rmSync(join(cli.work, "sum.cu"));
    expect(cli.run("exec", "--sanitize", "race", "bin/sum").stderr).toMatch(line);
    expect(cli.run("exec", "--sanitize", "race", "alone/sum").stderr).not.toMatch(line);
    expect(cli.run("exec", "--sanitize", "race", "--source-path", "elsewhere", "alone/sum").stderr).toMatch(line);
    cli.run("exec", "--profile", "page.html", "bin/sum");
    expect(readFileSync(join(cli.work, "page.html"), "utf8")).toContain("s[t] += s[t + d]");
    cpSync(join(root, "examples/cuda/sum.cu"), join(cli.work, "sum.cu"));
  });

  test("one document, with --json", () => {
    const { status, stdout, stderr } = cli.run("exec", "--json", "./sum");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "2016\n" });
    const [launch] = JSON.parse(stdout).launches;
    expect(launch).toMatchObject({ kernel: "sum(int const*, int*)", grid: [1, 1, 1], block: [64, 1, 1], ok: true });
  });

  test("a recording is run again in the debugger, up to the race and back to the barrier before it", () => {
    expect(cli.run("exec", "--record", "run.lanewise", "./sum")).toMatchObject({ status: 0, stdout: "2016\n" });
    const script = ["continue", "reverse-step", "info launches"].flatMap((line) => ["--command", line]);
    const { status, stdout } = cli.run("debug", "run.lanewise", "--sanitize", "race", ...script);
    expect(status).toBe(0);
    expect(stdout).toMatch(/sum\.cu:10:\d+: error: .*\[data-race\]/);
    expect(stdout).toMatch(/8 \| +__syncthreads\(\);/);
    expect(stdout).toContain("sum(int const*, int*)  1x1x1 blocks of 64x1x1");
  });

  test("several schedules", () => {
    const { status, stdout, stderr } = cli.run("exec", "--explore", "3", "./sum");
    expect({ status, stdout }).toEqual({ status: 0, stdout: "2016\n" });
    expect(stderr).toContain("3 schedules, the same output");
  });

  // docs/exec.md: with --json the program's stdout goes to stderr.
  test("several schedules, with --json: one document alone", () => {
    const { stdout, stderr } = cli.run("exec", "--explore", "2", "--json", "./sum");
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, status: 0 });
    expect(stderr).toContain("2016");
  });

  test.each([
    ["the status is the program's", ["-c", "exit 7"], 7],
    ["a signal is 128 and its number", ["-c", "kill -9 $$"], 137],
    ["options after the program are its own", ["-c", 'test "$1" = --seed', "sh", "--seed"], 0],
  ])("%s", (_, args, wanted) => {
    expect(cli.run("exec", "/bin/sh", ...args).status).toBe(wanted);
  });

  // docs/cli.md: with --json stdout has exactly one document, whatever happens; the status is 128 and the signal.
  test.each([
    ["the thread that answers", ["--engine", "interpreter"]],
    ["others", ["--threads", "2"]],
  ])("one document, with --json, when a signal ends the program during a kernel of %s", async (_, options) => {
    const source = `
      #include <dlfcn.h>
      #include <stdio.h>
      static const char *ptx =
        ".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry once() { ret; }\\n"
        ".visible .entry forever(.param .u64 word) { .reg .u32 %r; .reg .pred p; .reg .u64 %d; ld.param.u64 %d, [word];\\n"
        "again: ld.volatile.global.u32 %r, [%d]; setp.eq.u32 p, %r, 0; @p bra again; ret; }\\n";
      typedef int function();
      static void *driver;
      static function *of(const char *name) { return (function *)dlsym(driver, name); }
      static void launch(void *module, const char *name, void **arguments) {
        void *kernel;
        of("cuModuleGetFunction")(&kernel, module, name);
        of("cuLaunchKernel")(kernel, 1, 1, 1, 32, 1, 1, 0, 0L, arguments, 0L);
      }
      int main(void) {
        void *context, *module;
        unsigned long long word;
        void *arguments[] = {&word};
        driver = dlopen("libcuda.so.1", RTLD_NOW);
        of("cuInit")(0);
        of("cuDevicePrimaryCtxRetain")(&context, 0);
        of("cuCtxSetCurrent")(context);
        of("cuModuleLoadData")(&module, ptx);
        of("cuMemAlloc_v2")(&word, 4L);
        launch(module, "once", 0L);
        of("cuCtxSynchronize")();
        puts("begins");
        fflush(stdout);
        launch(module, "forever", arguments);
        of("cuCtxSynchronize")();
      }`;
    writeFileSync(join(cli.work, "forever.c"), source);
    execFileSync("cc", ["-w", "-o", "forever", "forever.c", "-ldl"], { cwd: cli.work });
    const command = [join(cli.folder, "dist/cli/main.js"), "exec", "--json", ...options, "./forever"];
    const run = spawn(process.execPath, command, { cwd: cli.work, env: { ...process.env, LANEWISE_CACHE: "off" } });
    let [stdout, stderr] = ["", ""];
    run.stdout.on("data", (text) => {
      stdout += text;
    });
    run.stderr.on("data", (text) => {
      // The kernel has begun soon after.
      if (!stderr.includes("begins")) setTimeout(() => run.kill("SIGTERM"), 1000);
      stderr += text;
    });
    const status = await new Promise((resolve) => void run.on("close", resolve));
    expect(status).toBe(128 + 15);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, status: 143, launches: [{ kernel: "once", ok: true }] });
  });

  // cudaTypedefs.h: the first numbers of each form's type.
  test("a function of the driver by name is the form of the version that is asked for", () => {
    const source = `
      #include <dlfcn.h>
      #include <stdio.h>
      typedef int get(const char *, void **, int, unsigned long long, int *);
      int main(int count, char **arguments) {
        void *driver = dlopen("libcuda.so.1", RTLD_NOW), *found, *form;
        get *named = (get *)dlsym(driver, "cuGetProcAddress_v2");
        for (int i = 1; i + 2 < count; i += 3) {
          int version, status;
          sscanf(arguments[i + 1], "%d", &version);
          int result = named(arguments[i], &found, version, 0, &status);
          named(arguments[i + 2], &form, 13000, 0, NULL);
          printf("%d %d %d\\n", result, status, found == form);
        }
      }`;
    writeFileSync(join(cli.work, "forms.c"), source);
    execFileSync("cc", ["-o", "forms", "forms.c", "-ldl"], { cwd: cli.work });
    const asked = [
      ["cuMemPrefetchAsync", "12019", "cuMemPrefetchAsync_v2"],
      ["cuMemPrefetchAsync", "12020", "cuMemPrefetchAsync_v2"],
      ["cuMemPrefetchAsync", "13000", "cuMemPrefetchAsync_v2"],
      ["cuStreamGetCaptureInfo", "12000", "cuStreamGetCaptureInfo_v2"],
      ["cuMemAlloc", "11040", "cuMemAlloc_v2"],
      ["cuCtxCreate", "12000", "cuCtxCreate_v3"],
      ["cuInit", "13000", "cuInit"],
      ["cuGreenCtxCreate", "12040", "cuGreenCtxCreate"],
      ["cuGreenCtxCreate", "12030", "cuGreenCtxCreate"],
    ];
    const { stdout } = cli.run("exec", "./forms", ...asked.flat());
    expect(stdout).toBe("0 0 0\n" + "0 0 1\n".repeat(asked.length - 2) + "500 2 0\n");
  });

  // Programming guide, "Error Checking": cudaErrorNotReady is no error, and cudaGetLastError does not report it.
  test("a stream that is not ready leaves no error behind", () => {
    const source = `
      #include <dlfcn.h>
      #include <stdio.h>
      #include <unistd.h>
      static volatile int may_end;
      static void wait(void *data) { while (!may_end) usleep(1000); }
      int main(void) {
        void *runtime = dlopen("libcudart.so.13", RTLD_NOW);
        int (*launch)(void *, void (*)(void *), void *) = dlsym(runtime, "cudaLaunchHostFunc");
        int (*query)(void *) = dlsym(runtime, "cudaStreamQuery");
        int (*last)(void) = dlsym(runtime, "cudaGetLastError");
        int (*finish)(void) = dlsym(runtime, "cudaDeviceSynchronize");
        launch(0, wait, 0);
        int is_ready = query(0);
        printf("%d %d ", is_ready, last());
        may_end = 1;
        printf("%d\\n", finish());
      }`;
    writeFileSync(join(cli.work, "ready.c"), source);
    execFileSync("cc", ["-o", "ready", "ready.c", "-ldl"], { cwd: cli.work });
    expect(cli.run("exec", "./ready").stdout).toBe("600 0 0\n");
  });

  test.each([
    ["libcublas.so.13", "it needs libcublas.so.13: exec stands for the CUDA runtime and driver alone"],
    ["libcudart.so.12", "it was built with CUDA 12 (libcudart.so.12), and exec runs programs of CUDA 13"],
  ])("a program that needs %s, which is not there", (name, why) => {
    const run = (...args: string[]) => execFileSync("cc", args, { cwd: cli.work });
    writeFileSync(join(cli.work, "library.c"), "int answer(void) { return 42; }\n");
    writeFileSync(join(cli.work, "needs.c"), "int answer(void);\nint main(void) { return answer(); }\n");
    run("-shared", "-fPIC", `-Wl,-soname,${name}`, "-o", name, "library.c");
    run("-o", "needs", "needs.c", `./${name}`);
    rmSync(join(cli.work, name));
    const { status, stderr } = cli.run("exec", "./needs");
    expect(status).toBe(127);
    expect(stderr).toContain(`lanewise: ./needs was not started: ${why}`);
  });

  test.each([
    ["./none", "exec: there is no program ./none"],
    ["no-such-program", "exec: there is no program no-such-program in PATH"],
    ["reduce", "exec: there is no program reduce in PATH: it is ./reduce"],
    ["./sum.cu", "exec: ./sum.cu may not be executed: `chmod +x ./sum.cu`"],
    [".", "exec: . is a directory, not a program"],
  ])("what is no program: %s", (program, why) => {
    const { status, stderr } = cli.run("exec", program);
    expect({ status, stderr }).toEqual({ status: 2, stderr: `lanewise: ${why}\n` });
  });

  test("a GPU that is not known", () => {
    const { status, stderr } = cli.run("exec", "--gpu", "sm_1", "./sum");
    expect(status).toBe(2);
    expect(stderr).toContain("--gpu sm_1: expected sm_75");
  });
});
