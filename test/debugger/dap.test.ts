import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { frame, Unframer } from "../../src/debugger/dap/framing.ts";
import { DapClient } from "./dap-client.ts";

const shared = fileURLToPath(new URL("../../../shared/visa/hand", import.meta.url));

/** The position of the stopped thread: function and line of each frame. */
async function stack(client: DapClient): Promise<string[]> {
  const { threadId } = client.last("stopped");
  const { stackFrames } = await client.request("stackTrace", { threadId });
  return stackFrames.map((f: { name: string; line: number }) => `${f.name}:${f.line}`);
}

async function frameId(client: DapClient): Promise<number> {
  const { threadId } = client.last("stopped");
  return (await client.request("stackTrace", { threadId })).stackFrames[0].id;
}

/** The variables of a scope by name. */
async function scope(
  client: DapClient,
  name: string,
): Promise<Map<string, { value: string; variablesReference: number }>> {
  const { scopes } = await client.request("scopes", { frameId: await frameId(client) });
  const { variablesReference } = scopes.find((s: { name: string }) => s.name === name);
  const { variables } = await client.request("variables", { variablesReference });
  return new Map(variables.map((v: { name: string }) => [v.name, v]));
}

test("an editor's session: into a divergent call, out of it, back, and to the last write", async () => {
  const client = new DapClient();
  await client.launch("calls.json");
  expect(client.events.map((e) => e.event)).toEqual(["initialized"]);
  const { breakpoints } = await client.request("setBreakpoints", {
    source: { path: "calls.ptx" },
    breakpoints: [{ line: 54, condition: "laneid == 1" }, { line: 999 }],
  });
  expect(breakpoints).toMatchObject([{ verified: true, line: 54 }, { verified: false }]);
  await client.request("setExceptionBreakpoints", { filters: ["reports"] });
  await client.request("configurationDone");
  expect(client.last("stopped")).toMatchObject({ reason: "breakpoint", hitBreakpointIds: [breakpoints[0].id] });
  const { threadId } = client.last("stopped");
  const { threads } = await client.request("threads");
  expect(threads).toMatchObject([
    { name: expect.stringContaining("warp 0") },
    { name: expect.stringContaining("warp 1") },
  ]);

  await client.request("stepIn", { threadId });
  expect(await stack(client)).toEqual(["square:23", "calls:54"]);
  const { lane, lanes } = await client.request("lanewise/lanes", { threadId });
  expect(lane).toBe(1);
  expect(lanes).toMatchObject([
    { mask: 0x5555_5555, state: "ready", function: "calls", line: 59 },
    { mask: 0xaaaa_aaaa, state: "next", function: "square", line: 23, depth: 1 },
  ]);
  await client.request("next", { threadId });
  expect((await scope(client, "Registers")).get("%x")?.value).toBe("1");
  const { variablesReference } = (await scope(client, "Registers")).get("%x")!;
  const ofLanes = (await client.request("variables", { variablesReference })).variables;
  expect(ofLanes[3]).toMatchObject({ name: "lane 3", value: "3" });
  await client.request("stepOut", { threadId });
  expect(await stack(client)).toEqual(["calls:55"]);
  await client.request("stepBack", { threadId });
  expect(await stack(client)).toEqual(["calls:54"]);
  await client.request("reverseContinue", { threadId });
  expect(client.last("stopped").description).toBe("The beginning, time 0");

  // A data breakpoint on shared memory.
  const info = await client.request("dataBreakpointInfo", { name: "exchange", frameId: await frameId(client) });
  expect(info).toMatchObject({ dataId: expect.any(String), accessTypes: ["read", "write", "readWrite"] });
  await client.request("setBreakpoints", { source: { path: "calls.ptx" }, breakpoints: [] });
  await client.request("setDataBreakpoints", { breakpoints: [{ dataId: info.dataId, accessType: "write" }] });
  await client.request("continue", { threadId });
  expect(client.last("stopped").reason).toBe("data breakpoint");
  expect(await stack(client)).toEqual(["calls:62"]);
  await client.request("setDataBreakpoints", { breakpoints: [] });
  await client.request("lanewise/lastWrite", { expression: "%y", threadId });
  expect(await stack(client)).toEqual([expect.stringMatching(/^calls:(46|55)$/)]);
  await client.request("disconnect", {});
});

test("the shown lane changes, whatever an editor still asks about the previous one", async () => {
  const client = new DapClient();
  await client.launch("calls.json");
  await client.request("setFunctionBreakpoints", { breakpoints: [{ name: "square" }] });
  await client.request("configurationDone");
  const { threadId } = client.last("stopped");
  const before = await frameId(client);
  expect(await stack(client)).toEqual(["square:23", "calls:54"]);
  await client.request("lanewise/focus", { threadId, lane: 4 });
  expect(client.last("invalidated")).toEqual({ areas: ["threads", "stacks", "variables"] });
  const { threads } = await client.request("threads");
  expect(threads[0].name).toBe("warp 0 lane 4, block (0,0,0): 32 lanes, in 2 parts");
  await client.request("scopes", { frameId: before });
  expect(await stack(client)).toEqual(["calls:59"]);
  await client.request("scopes", { frameId: before });
  await client.request("next", { threadId });
  expect(await stack(client)).toEqual(["calls:60"]);
  expect((await client.request("evaluate", { expression: "laneid", frameId: await frameId(client) })).result).toBe("4");
});

test("a console command makes the editor refresh only if something has changed", async () => {
  const client = new DapClient();
  await client.launch("calls.json", { stopOnEntry: true });
  await client.request("configurationDone");
  const { threadId } = client.last("stopped");
  await client.request("next", { threadId });
  const told = async (expression: string): Promise<unknown[]> => {
    const { length } = client.events;
    await client.request("evaluate", { expression, frameId: await frameId(client), context: "repl" });
    return client.events.slice(length).map(({ body }) => body?.areas);
  };
  for (const command of ["info lanes", "print %t", "x/4 exchange", "help"]) expect(await told(command)).toEqual([]);
  expect(await told("lane 3")).toEqual([["threads", "stacks", "variables"]]);
  expect(await told("set %t = 7")).toEqual([["variables"]]);
});

test("the end of the program is not the end of the session", async () => {
  const client = new DapClient();
  await client.launch("calls.json");
  await client.request("configurationDone");
  expect(client.last("stopped").description).toMatch(/^The end, time \d+$/);
  const { threads } = await client.request("threads");
  const { threadId } = client.last("stopped");
  expect((await client.request("stackTrace", { threadId: threads[0].id })).stackFrames).toEqual([]);
  await client.request("stepBack", { threadId });
  expect(await stack(client)).toEqual(["calls:72"]);
  await client.request("restart", {});
  expect(client.last("stopped")).toMatchObject({ reason: "entry" });
  expect(await stack(client)).toEqual(["calls:36"]);
  await client.request("continue", { threadId });
  await client.request("continue", { threadId });
  expect(client.events.at(-1)?.event).toBe("terminated");
});

test("a fault is an exception, before it happens", async () => {
  const client = new DapClient();
  await client.launch("factorial.json", { stopOnEntry: true });
  await client.request("setFunctionBreakpoints", {
    breakpoints: [{ name: "factorial", hitCondition: "2" }, { name: "factorail" }],
  });
  await client.request("configurationDone");
  expect(client.last("stopped")).toMatchObject({ reason: "entry" });
  const { threadId } = client.last("stopped");
  await client.request("continue", { threadId });
  expect(await stack(client)).toEqual(["factorial:11", "factorial:20", "compute:40"]);
  await client.request("continue", { threadId });
  expect(client.last("stopped")).toMatchObject({ reason: "exception" });
  expect(await client.request("exceptionInfo", { threadId })).toMatchObject({
    exceptionId: "global-out-of-bounds",
    breakMode: "always",
  });
  // With another address it does not fault.
  const registers = await scope(client, "Registers");
  const { scopes } = await client.request("scopes", { frameId: await frameId(client) });
  const set = { variablesReference: scopes[0].variablesReference, name: "%third", value: "0" };
  expect(registers.get("%third")?.value).toBe("true");
  expect(await client.request("setVariable", set)).toMatchObject({ value: "false" });
  await client.request("continue", { threadId });
  expect(client.last("stopped").description).toMatch(/^The end/);
});

test("values, memory and code", async () => {
  const client = new DapClient();
  await client.launch("factorial.json");
  await client.request("setBreakpoints", { source: { path: "/somewhere/factorial.ptx" }, breakpoints: [{ line: 46 }] });
  await client.request("configurationDone");
  const id = await frameId(client);
  const evaluate = (expression: string, context = "watch"): Promise<{ result: string; memoryReference?: string }> =>
    client.request("evaluate", { expression, frameId: id, context });
  expect((await evaluate("%r * 2")).result).toBe("2");
  await expect(evaluate("%q")).rejects.toThrow("there is no %q here");
  expect((await evaluate("info functions", "repl")).result).toContain("factorial");
  const { memoryReference } = await evaluate("[%out]:u64");
  // 0! to 7!; lane 0 reads the first one.
  const { data } = await client.request("readMemory", { memoryReference, count: 64 });
  expect([...new BigUint64Array(Uint8Array.from(atob(data), (c) => c.charCodeAt(0)).buffer)]).toEqual(
    [1, 1, 2, 6, 24, 120, 720, 5040].map(BigInt),
  );
  await client.request("writeMemory", { memoryReference, offset: 8, data: btoa("\x07\0\0\0\0\0\0\0") });
  expect((await evaluate("[%out + 8]:u64")).result).toBe("7");
  const { threadId } = client.last("stopped");
  const [frame] = (await client.request("stackTrace", { threadId })).stackFrames;
  const around = { memoryReference: frame.instructionPointerReference, instructionOffset: -1, instructionCount: 3 };
  const { instructions } = await client.request("disassemble", around);
  expect(instructions.map((i: { instruction: string }) => i.instruction)).toEqual([
    "st.global.u64 [%out], %r;",
    "setp.eq.u32 %third, %t, 3;",
    "@%third st.global.u64 [%out+4096], %r;",
  ]);
  const set = { breakpoints: [{ instructionReference: instructions[2].address }] };
  expect((await client.request("setInstructionBreakpoints", set)).breakpoints).toMatchObject([{ verified: true }]);
  expect((await client.request("loadedSources")).sources).toMatchObject([{ name: "factorial.ptx" }]);
  await client.request("next", { threadId });
  expect(client.last("stopped")).toMatchObject({ reason: "breakpoint" });
});

test("what cannot be done is an error response, and the session continues", async () => {
  const client = new DapClient();
  await expect(client.request("threads")).rejects.toThrow("nothing is being debugged");
  for (const message of [null, 7, "next", [], {}, { type: "request", seq: 1 }]) await client.send(message);
  await client.launch("calls.json", { stopOnEntry: true });
  await client.request("configurationDone");
  await expect(client.request("stackTrace", { threadId: 77 })).rejects.toThrow("there is no thread 77");
  await expect(client.request("variables", { variablesReference: 9 })).rejects.toThrow();
  await expect(client.request("readMemory", { memoryReference: "x", count: 1 })).rejects.toThrow(
    '"x" is not an address',
  );
  await expect(client.request("launch", { program: "calls.json" })).rejects.toThrow("already");
  await expect(client.request("configurationDone")).rejects.toThrow("already");
  await expect(client.request("lanewise/lastWrite", { expression: "((" })).rejects.toThrow("expected a value");
  await expect(client.request("evaluate", { expression: "0x1ffffffffffffffff" })).rejects.toThrow("64 bits");
  expect(await stack(client)).toEqual(["calls:36"]);
});

test("an endless program can be interrupted, inspected and given breakpoints", async () => {
  const client = new DapClient();
  await client.launch("forever.json");
  const running = client.request("configurationDone");
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect((await client.request("threads")).threads).toMatchObject([{ name: "warp 0, block (0,0,0)" }]);
  await expect(client.request("evaluate", { expression: "%n" })).rejects.toThrow("the program is running");
  await client.request("pause", { threadId: 1 });
  await running;
  const first = client.last("stopped");
  expect(first).toMatchObject({ reason: "pause", threadId: 1 });
  const going = client.request("continue", { threadId: 1 });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const asked = { source: { path: "forever.ptx" }, breakpoints: [{ line: 14, condition: "%n % 1000 == 0" }] };
  await client.request("setBreakpoints", asked);
  await going;
  expect(client.last("stopped")).toMatchObject({ reason: "breakpoint" });
  expect(await stack(client)).toEqual(["forever:14"]);
  const n = (await client.request("evaluate", { expression: "%n" })).result as string;
  expect(n).toMatch(/000$/);
  await client.request("reverseContinue", { threadId: 1 });
  expect((await client.request("evaluate", { expression: "%n" })).result).toBe(String(Number(n) - 1000));
});

const briefly = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100));

test("requests that arrive together are handled one after the other", async () => {
  const client = new DapClient();
  await client.request("initialize", { adapterID: "lanewise" });
  const launch = client.request("launch", { program: "forever.json", stopOnEntry: true });
  await Promise.all([launch, client.request("configurationDone")]);
  expect(client.last("stopped")).toMatchObject({ reason: "entry" });
  await Promise.all([client.request("next", { threadId: 1 }), client.request("next", { threadId: 1 })]);
  expect(await client.request("lanewise/time")).toMatchObject({ time: 2 });
  await Promise.all([client.request("continue", { threadId: 1 }), client.request("pause", { threadId: 1 })]);
  expect(client.last("stopped")).toMatchObject({ reason: "pause" });
});

test("a running program can be restarted and terminated", async () => {
  const client = new DapClient();
  await client.launch("forever.json", { stopOnEntry: true });
  await client.request("configurationDone");
  const going = client.request("continue", { threadId: 1 });
  await briefly();
  await client.request("restart", {});
  await going;
  expect(client.events.map(({ body }) => body?.description).filter(Boolean)).toEqual([
    "Entry, time 0",
    "Entry, time 0",
  ]);
  const again = client.request("continue", { threadId: 1 });
  await briefly();
  await client.request("terminate", {});
  await again;
  const events = client.events.map((e) => e.event);
  expect(events.indexOf("terminated")).toBeGreaterThan(events.lastIndexOf("stopped"));
  await expect(client.request("next", { threadId: 1 })).rejects.toThrow("nothing is being debugged");
  await client.launch("calls.json", { stopOnEntry: true });
  await client.request("configurationDone");
  expect(await stack(client)).toEqual(["calls:36"]);
});

test("a console command can run the program, and can be interrupted", async () => {
  const client = new DapClient();
  await client.launch("forever.json", { stopOnEntry: true });
  await client.request("configurationDone");
  const answer = client.request("evaluate", { expression: "continue", context: "repl" });
  await briefly();
  await expect(client.request("next", { threadId: 1 })).rejects.toThrow("the program is running");
  await client.request("pause", { threadId: 1 });
  expect((await answer).result).toMatch(/^interrupted/);
});

test("steps of a thread that has ended follow whichever thread is next", async () => {
  const client = new DapClient();
  await client.launch("calls.json", { stopOnEntry: true });
  await client.request("configurationDone");
  const { threads } = await client.request("threads");
  await client.request("setBreakpoints", {
    source: { path: "calls.ptx" },
    breakpoints: [{ line: 68, condition: "warp == 1" }],
  });
  await client.request("continue", { threadId: threads[0].id });
  await client.request("next", { threadId: threads[0].id });
  expect(client.last("stopped")).toMatchObject({ reason: "step", threadId: threads[1].id });
  expect(await stack(client)).toEqual(["calls:69"]);
});

test("a data breakpoint can be set while the program runs", async () => {
  const client = new DapClient();
  await client.launch("forever.json", { stopOnEntry: true });
  await client.request("configurationDone");
  const { dataId } = await client.request("dataBreakpointInfo", { name: "%n" });
  const going = client.request("continue", { threadId: 1 });
  await briefly();
  await client.request("setDataBreakpoints", { breakpoints: [{ dataId }] });
  await going;
  expect(client.last("stopped")).toMatchObject({ reason: "data breakpoint" });
});

test("a condition without a value is reported", async () => {
  const client = new DapClient();
  await client.launch("calls.json");
  const breakpoints = [{ name: "square", condition: "%none == 1" }];
  await client.request("setFunctionBreakpoints", { breakpoints });
  await client.request("configurationDone");
  expect(client.last("stopped")).toMatchObject({ reason: "breakpoint" });
  expect(client.last("output").output).toContain("there is no %none here");
});

test("at the edges of addresses", async () => {
  const client = new DapClient();
  await client.launch("calls.json", { stopOnEntry: true });
  await client.request("configurationDone");
  const read = (memoryReference: string, count: number, offset = 0) =>
    client.request("readMemory", { memoryReference, count, offset });
  expect(await read("0xffffffffffffffff", 4)).toEqual({
    address: "0xffffffffffffffff",
    data: "",
    unreadableBytes: 4,
  });
  expect(await read("0x10", -4)).toEqual({ address: "0x10", data: "" });
  await expect(read("0x10", 4, -17)).rejects.toThrow("the address is out of range");
  await expect(read("0xffffffffffffffff", 4, 1)).rejects.toThrow("the address is out of range");
  const disassemble = (memoryReference: string, instructionOffset: number, instructionCount: number) =>
    client.request("disassemble", { memoryReference, instructionOffset, instructionCount });
  const { instructions } = await disassemble("0x500000000", -2, 3);
  expect(instructions).toMatchObject([
    { address: "0x4fffffffe", presentationHint: "invalid" },
    { address: "0x4ffffffff", presentationHint: "invalid" },
    { address: "0x500000000", symbol: "twice+0" },
  ]);
  expect((await disassemble("0x0", -1, 1)).instructions).toMatchObject([{ address: "0xffffffffffffffff" }]);
  expect((await disassemble("0x500000000", 0, -1)).instructions).toEqual([]);
  await expect(disassemble("here", 0, 1)).rejects.toThrow('"here" is not an address');
});

test.skipIf(!existsSync(shared))("vISA: lanes of a thread in a recursion", async () => {
  const client = new DapClient();
  await client.launch(`${shared}/p21_recursion_fib.json`);
  await client.request("setFunctionBreakpoints", { breakpoints: [{ name: "f_fib", hitCondition: "3" }] });
  await client.request("configurationDone");
  expect(await stack(client)).toEqual([
    "f_fib:18",
    expect.stringMatching(/^f_fib:/),
    expect.stringMatching(/^f_fib:/),
    expect.stringMatching(/^k:/),
  ]);
  expect((await scope(client, "Variables")).get("X")?.value).toMatch(/^\{0, 0/);
  await client.request("stepBack", { threadId: client.last("stopped").threadId });
  expect((await stack(client)).length).toBe(3);
});

test("messages in a stream, in whatever pieces they arrive", () => {
  const sent = [{ seq: 1, text: "häß" }, { seq: 2 }];
  const bytes = Uint8Array.from(sent.flatMap((message) => [...frame(message)]));
  for (const size of [1, 2, 7, 1000]) {
    const unframer = new Unframer();
    const got: string[] = [];
    for (let at = 0; at < bytes.length; at += size) got.push(...unframer.push(bytes.subarray(at, at + size)));
    expect(got.map((text) => JSON.parse(text) as object)).toEqual(sent);
  }
  expect(() => new Unframer().push(new TextEncoder().encode("GET / HTTP/1.1\r\n\r\n"))).toThrow("Content-Length");
});

test("an editor shows matrices and mbarriers where there are some", async () => {
  const path = (name: string): string => fileURLToPath(new URL(`../../examples/modern/${name}`, import.meta.url));
  const gemm = new DapClient();
  await gemm.launch(path("gemm.json"));
  await gemm.request("setBreakpoints", { source: { path: path("gemm.ptx") }, breakpoints: [{ line: 67 }] });
  await gemm.request("configurationDone");
  const matrices = await scope(gemm, "Matrices of the next instruction");
  expect([...matrices].map(([name, { value }]) => `${name}: ${value}`)).toEqual([
    "A: 16x16 in %a0 %a1 %a2 %a3",
    "B: 16x8 in %b0 %b1",
    "C: 16x8 in %d0 %d1 %d2 %d3",
    "D: 16x8 in %d0 %d1 %d2 %d3",
  ]);
  const { variables } = await gemm.request("variables", {
    variablesReference: matrices.get("A")!.variablesReference,
  });
  // Row 1 of A begins at element 64 of 0, 1, 2, ...
  const row = Array.from({ length: 16 }, (_, i) => 64 + i);
  expect(variables[1]).toMatchObject({ name: "row 1", value: `{${row.join(", ")}}`, type: "f16" });

  const hopper = new DapClient();
  await hopper.launch(path("gemm-hopper.json"));
  await hopper.request("setBreakpoints", { source: { path: path("gemm-hopper.ptx") }, breakpoints: [{ line: 71 }] });
  await hopper.request("configurationDone");
  const mbarriers = await scope(hopper, "Mbarriers of the block");
  expect([...mbarriers.values()].map(({ value }) => value)).toEqual(
    Array(2).fill("phase of parity 1: 0 of 1 arrivals"),
  );
});
