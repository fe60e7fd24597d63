/** A generator of pseudo-random numbers below a bound, the same on every machine. */
export function generator(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** One of some texts with up to four edits: characters taken out, changed or repeated, and fragments put in. */
export function mutated(
  texts: readonly string[],
  fragments: readonly string[],
  below: (bound: number) => number,
): string {
  let text = texts[below(texts.length)]!;
  for (let edits = 1 + below(4); edits > 0; edits--) {
    const at = below(text.length);
    const [before, after] = [text.slice(0, at), text.slice(at)];
    switch (below(4)) {
      case 0:
        text = before + fragments[below(fragments.length)] + after;
        break;
      case 1:
        text = before + after.slice(1 + below(8));
        break;
      case 2:
        text = before + String.fromCharCode(below(300)) + after.slice(1);
        break;
      default: {
        const from = below(text.length);
        text = before + text.slice(from, from + below(60)) + after.slice(below(10));
      }
    }
  }
  return text;
}
