import fc from "fast-check";
import { expect, test } from "vitest";
import { Lines } from "../../src/cli/lsp/lines.ts";

/* Lines of the protocol: \\n, \\r\\n and \\r end one; a character beyond a line is at its end. */

/** Every position of a text, by a model that splits it. */
const positions = (text: string) =>
  text
    .split(/\r\n|\r|\n/)
    .flatMap((line, row) => Array.from({ length: line.length + 1 }, (_, at) => [row, at] as const));

const piece = fc
  .array(fc.constantFrom("a", "bc", "\n", "\n\n", "\r\n", "\r"), { maxLength: 12 })
  .map((all) => all.join(""));
const plain = fc.array(fc.constantFrom("a", "bc", "\n", "\n\n"), { maxLength: 12 }).map((all) => all.join(""));

test("positions become offsets and come back", () => {
  fc.assert(
    fc.property(piece, (text) => {
      const lines = Lines.of(text);
      for (const [line, character] of positions(text)) {
        const offset = lines.offset({ line, character });
        expect(lines.position(offset)).toEqual({ line, character });
      }
      const rows = text.split(/\r\n|\r|\n/);
      for (const [line, row] of rows.entries())
        expect(lines.position(lines.offset({ line, character: 99 })).character).toBe(row.length);
      expect(lines.offset({ line: rows.length, character: 0 })).toBe(text.length);
    }),
  );
});

test.each([piece, plain])("lines after an edit are those of the text after it", (texts) => {
  fc.assert(
    fc.property(texts, texts, fc.nat(20), fc.nat(20), (text, now, from, length) => {
      const start = Math.min(from, text.length);
      const end = Math.min(start + length, text.length);
      const after = text.slice(0, start) + now + text.slice(end);
      const edited = Lines.of(text).edited({ start, end }, now);
      if (edited === null) expect(text + now).toContain("\r");
      else {
        for (const [line, character] of positions(after))
          expect(edited.offset({ line, character })).toBe(Lines.of(after).offset({ line, character }));
        for (let offset = 0; offset <= after.length; offset++)
          expect(edited.position(offset)).toEqual(Lines.of(after).position(offset));
      }
    }),
  );
});
