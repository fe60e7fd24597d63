import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BuiltCli } from "../cli/built-cli.ts";

/*
 * Neovim, without a screen, with the language server as it is shipped: what its own client makes of the answers. The
 * program below has one error, in its sixth line.
 */

const hasNeovim = spawnSync("nvim", ["--version"]).status === 0;
const program = `.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out) {
    .reg .b32 %a, %b;
    ad.s32 %a, %b, 1;
    shl.b32 %b, %a, 2;
    ret;
}
`;

const script = `
local folder = vim.fn.argv(0)
local answers = {}
vim.cmd("edit " .. folder .. "/k.ptx")
local buffer = vim.api.nvim_get_current_buf()
local id = vim.lsp.start_client({ name = "lanewise", cmd = { vim.env.NODE, vim.env.MAIN, "lsp" }, root_dir = folder })
vim.lsp.buf_attach_client(buffer, id)
vim.wait(20000, function() return #vim.diagnostic.get(buffer) > 0 end, 20)
for _, found in ipairs(vim.diagnostic.get(buffer)) do
  table.insert(answers, "diagnostic " .. found.lnum .. ":" .. found.col .. " " .. found.code)
end
local document = vim.lsp.util.make_text_document_params(buffer)
local function ask(method, line, character, more)
  local params = vim.tbl_extend("force", { textDocument = document, position = { line = line, character = character } }, more or {})
  local all = vim.lsp.buf_request_sync(buffer, method, params, 20000)
  return all and all[id] and all[id].result
end
table.insert(answers, "hover " .. ask("textDocument/hover", 6, 5).contents.value)
local place = ask("textDocument/definition", 6, 12)[1].range.start
table.insert(answers, "definition " .. place.line .. ":" .. place.character)
local labels = {}
for _, item in ipairs(ask("textDocument/completion", 6, 8)) do table.insert(labels, item.label) end
table.insert(answers, "completion " .. table.concat(labels, " "))
local client = vim.lsp.get_client_by_id(id)
vim.lsp.util.apply_workspace_edit(ask("textDocument/rename", 6, 12, { newName = "%c" }), client.offset_encoding)
table.insert(answers, "renamed " .. vim.api.nvim_buf_get_lines(buffer, 6, 7, false)[1])
vim.api.nvim_buf_set_text(buffer, 5, 4, 5, 6, { "add" })
vim.wait(20000, function() return #vim.diagnostic.get(buffer) == 0 end, 20)
table.insert(answers, "left " .. #vim.diagnostic.get(buffer))
vim.fn.writefile({ vim.fn.json_encode(answers) }, folder .. "/answers")
vim.cmd("qall!")
`;

let cli: BuiltCli | null = null;
const folder = mkdtempSync(join(tmpdir(), "lanewise-nvim-"));

beforeAll(async () => {
  if (hasNeovim) cli = await BuiltCli.build();
});
afterAll(() => {
  cli?.remove();
  rmSync(folder, { recursive: true, force: true });
});

test("Neovim shows diagnostics, hover, definitions and completions, and renames", (context) => {
  if (!hasNeovim) context.skip("Neovim is not installed");
  writeFileSync(join(folder, "k.ptx"), program);
  writeFileSync(join(folder, "ask.lua"), script);
  const main = join(cli!.folder, "dist/cli/main.js");
  const words = ["--headless", "--clean", "-n", folder, "-c", `luafile ${join(folder, "ask.lua")}`];
  const { stderr } = spawnSync("nvim", words, {
    encoding: "utf8",
    timeout: 60_000,
    env: { ...process.env, NODE: process.execPath, MAIN: main, HOME: folder },
  });
  expect(JSON.parse(readFileSync(join(folder, "answers"), "utf8")), stderr).toEqual([
    "diagnostic 5:4 unknown-instruction",
    expect.stringMatching(/^hover \*\*shl\*\*/),
    "definition 4:18",
    "completion .b16 .b32 .b64",
    "renamed     shl.b32 %c, %a, 2;",
    "left 0",
  ]);
});
