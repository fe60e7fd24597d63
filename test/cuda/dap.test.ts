import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { DapClient } from "../debugger/dap-client.ts";

const folder = fileURLToPath(new URL("../../examples/cuda/", import.meta.url));
const compiled = "/build/kernels/particles.cu";
const sources = { [compiled]: `${folder}particles.cu` };

const lineWith = (text: string): number =>
  readFileSync(`${folder}particles.cu`, "utf8")
    .split("\n")
    .findIndex((line) => line.includes(text)) + 1;

interface Row {
  readonly name: string;
  readonly value: string;
  readonly type?: string;
  readonly variablesReference: number;
}

/** A session of `move` that stands at a line of the source, as an editor that has the source. */
async function atLine(text: string, launch: object = {}): Promise<DapClient> {
  const client = new DapClient({}, sources);
  await client.launch(`${folder}particles.json`, launch);
  const line = lineWith(text);
  const { breakpoints } = await client.request("setBreakpoints", {
    source: { path: sources[compiled] },
    breakpoints: [{ line }],
  });
  expect(breakpoints).toMatchObject([{ verified: true, line }]);
  await client.request("configurationDone");
  return client;
}

async function frames(client: DapClient) {
  const { threadId } = client.last("stopped");
  return (await client.request("stackTrace", { threadId })).stackFrames;
}

async function rows(client: DapClient, variablesReference: number): Promise<Map<string, Row>> {
  const { variables } = await client.request("variables", { variablesReference });
  return new Map(variables.map((v: Row) => [v.name, v]));
}

async function scope(client: DapClient, name: string): Promise<Map<string, Row>> {
  const [{ id }] = await frames(client);
  const { scopes } = await client.request("scopes", { frameId: id });
  return rows(client, scopes.find((s: { name: string }) => s.name === name).variablesReference);
}

test("frames are those of the source, and steps go by its lines", async () => {
  const client = await atLine("p.at.x += scale[0]");
  const [frame] = await frames(client);
  expect(frame).toMatchObject({ line: lineWith("p.at.x += scale[0]"), source: { path: sources[compiled] } });
  await client.request("next", { threadId: client.last("stopped").threadId });
  expect((await frames(client))[0].line).toBe(lineWith("int i = total(grid[1])"));
  await client.request("stepBack", { threadId: client.last("stopped").threadId });
  expect((await frames(client))[0].line).toBe(lineWith("p.at.x += scale[0]"));
});

test("locals and arguments have types and parts, and can be set", async () => {
  const client = await atLine("p.at.x += scale[0]");
  const locals = await scope(client, "Locals");
  expect(locals.get("grid")).toMatchObject({ value: "{{0, 1, 2}, {3, 4, 5}}", type: "int [2][3]" });
  expect((await scope(client, "Arguments")).get("dt")).toMatchObject({ value: "0.5", type: "double" });
  expect((await scope(client, "threadIdx, blockIdx, ...")).get("blockDim")!.value).toBe("{x = 8, y = 1, z = 1}");
  const p = await rows(client, locals.get("p")!.variablesReference);
  expect([...p.keys()]).toEqual(["at", "mass", "kind", "flag", "alive", "tag", "history", "next"]);
  expect(p.get("kind")).toMatchObject({ value: "physics::Moving", type: "physics::Kind" });
  const history = await rows(client, p.get("history")!.variablesReference);
  expect([...history.keys()]).toEqual(["[0]", "[1]", "[2]"]);
  const reference = locals.get("p")!.variablesReference;
  const set = await client.request("setVariable", { variablesReference: reference, name: "mass", value: "2.5" });
  expect(set).toMatchObject({ value: "2.5", type: "double" });
  const all = (await scope(client, "Arguments")).get("all")!;
  expect([...(await rows(client, all.variablesReference)).keys()]).toContain("history");
  const hovered = await client.request("evaluate", { expression: "p.mass * 2", frameId: (await frames(client))[0].id });
  expect(hovered.result).toBe("5.0");
  expect((await client.request("evaluate", { expression: "grid[1]" })).result).toBe("{3, 4, 5}");
});

test("an editor may ask for the assembly", async () => {
  const client = await atLine("p.at.x += scale[0]", { source: "assembly" });
  const [frame] = await frames(client);
  expect(frame.source.path).toMatch(/particles\.ptx$/);
});
