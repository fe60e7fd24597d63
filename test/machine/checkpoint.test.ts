import { expect, test } from "vitest";
import { DeviceMemory } from "../../src/machine/memory/memory.ts";

const bytes = (...list: number[]): Uint8Array => Uint8Array.from(list);

test.each([false, true])(
  "what has been written, allocated and freed since is undone (quarantine: %s)",
  (quarantine) => {
    const memory = new DeviceMemory();
    memory.quarantine = quarantine;
    const [kept, freed] = [memory.alloc(4, "kept"), memory.alloc(4, "freed")];
    memory.heap.add(freed, 4);
    memory.write(kept, bytes(1, 2, 3, 4));
    memory.write(freed, bytes(5, 6, 7, 8));
    const undo = memory.checkpoint();

    memory.write(kept, bytes(9, 9, 9, 9));
    memory.heap.delete(freed);
    memory.free(freed);
    const late = memory.alloc(4, "late");
    memory.heap.add(late, 4);
    undo();

    expect(memory.allocations.map((a) => [a.name, a.freed])).toEqual([
      ["kept", false],
      ["freed", false],
    ]);
    expect([...memory.read(kept, 4), ...memory.read(freed, 4)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect([...memory.heap]).toEqual([freed]);
    expect(memory.heap.bytes).toBe(4);
    const next = memory.alloc(4, "next");
    expect([kept, freed]).not.toContain(next);
    expect([...memory.read(next, 4)]).toEqual([0, 0, 0, 0]);
  },
);

test("what the host has allocated since stays", () => {
  const memory = new DeviceMemory();
  const [kept, gone] = [memory.alloc(4, "kept"), memory.alloc(4, "gone")];
  memory.free(gone);
  const undo = memory.checkpoint();
  const late = memory.alloc(4, "late");
  memory.write(late, bytes(7, 7, 7, 7));
  memory.write(kept, bytes(1, 1, 1, 1));
  undo();
  expect([...memory.read(late, 4), ...memory.read(kept, 4)]).toEqual([7, 7, 7, 7, 0, 0, 0, 0]);
  expect([kept, late]).not.toContain(memory.alloc(4, "next"));
});
