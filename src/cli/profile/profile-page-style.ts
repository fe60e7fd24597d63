/** The style of a profile's page, in addition to that of all pages. */
export const profileStyle = `
.cards { display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; } .cards > div { min-width: 9rem; }
.totals td:first-child { color: var(--faint); } .totals td { padding-right: 1.2rem; overflow-wrap: anywhere; }
nav { display: flex; flex-wrap: wrap; gap: 0.3rem 1rem; margin: 0.6rem 0; }
.controls { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; margin: 0.4rem 0; }
.controls button, .controls select { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line);
  border-radius: 5px; padding: 0.15rem 0.6rem; max-width: 100%; min-height: 2rem; }
.flame { position: relative; overflow: hidden; border: 1px solid var(--line); border-radius: 6px; background: var(--panel); min-height: 24px; }
.flame-scroll { max-height: 32rem; overflow-y: auto; }
.flame button { position: absolute; height: 22px; top: calc(var(--d) * 23px); left: calc((var(--left, var(--x)) - var(--x0, 0)) / var(--w0, 1) * 100%);
  width: calc(var(--shown, var(--w)) / var(--w0, 1) * 100% - 1px); min-width: 2px; padding: 0 4px; border: 0; border-radius: 2px; text-align: left;
  font: 12px/22px ui-monospace, Menlo, Consolas, monospace; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; cursor: pointer;
  color: var(--text); background: light-dark(hsl(var(--hue) 65% 82%), hsl(var(--hue) 35% 28%)); }
.flame button[hidden] { display: none; } .flame button:focus-visible { outline-offset: -2px; }
#timeline canvas { display: block; width: 100%; border: 1px solid var(--line); border-radius: 6px; background: var(--panel); touch-action: pan-y; }
.detail { min-height: 1.5em; margin: 0.3rem 0; overflow-wrap: anywhere; }
.key { display: inline-block; width: 0.8em; height: 0.8em; border-radius: 2px; margin-right: 0.3em; vertical-align: -1px; }
.source { border-collapse: collapse; width: 100%; } .source td { padding: 0 0.6rem 0 0; white-space: pre; line-height: 1.45; }
.source .heat { position: relative; width: 4.5rem; min-width: 4.5rem; text-align: right; padding-right: 0.4rem;
  background: linear-gradient(to left, light-dark(hsl(18 95% 62%), hsl(14 80% 42%)) calc(var(--h, 0) * 100%), transparent 0); }
.source tr.ran { background: color-mix(in srgb, light-dark(#ff8a3c, #c4501c) calc(var(--h, 0) * 22%), transparent); }
.source .no { color: var(--faint); text-align: right; user-select: none; } .source .lanes { text-align: right; }
.source .text { padding-right: 1rem; tab-size: 4; } .source .notes { color: var(--faint); white-space: normal; min-width: 16rem; }
.source thead th { position: sticky; top: 0; z-index: 1; background: var(--panel); padding: 0.2rem 0.6rem 0.2rem 0; vertical-align: bottom;
  font: 600 11px/1.2 system-ui, sans-serif; }
.source thead .heat { position: sticky; background: var(--panel); padding-right: 0.4rem; overflow-wrap: anywhere; }
.source tr.gap td { color: var(--faint); } .file { border: 1px solid var(--line); border-radius: 6px; max-height: 44rem; overflow: auto; }
@media (max-width: 40rem) {
  .source thead th { font-size: 9px; padding-right: 0.35rem; } .source .notes { white-space: pre; min-width: 0; } .source .heat { width: 3rem; min-width: 3rem; } .source td { padding-right: 0.35rem; }
  .functions .wide { display: none; } .functions td:last-child:not(:empty) { min-width: 16rem; }
}
`;
