import type { CallEdge, Place, SymbolNode } from "lanewise/ide";
import type { LanguageClient } from "./language-client.ts";
import type { Palette, PaletteItem } from "./palette.ts";

/** What lists of places need of the editor. */
export interface ListHost {
  readonly client: LanguageClient;
  readonly palette: Palette;
  /** The number (from 1) and the text of the line at a place; null if there is no such file. */
  readonly lineAt: (uri: string, offset: number) => { readonly line: number; readonly text: string } | null;
  readonly goTo: (place: Place) => void;
  readonly say: (message: string) => void;
}

function itemAt(host: ListHost, place: Place, label?: string): PaletteItem[] {
  const at = host.lineAt(place.uri, place.start);
  if (at === null) return [];
  return [{ label: label ?? at.text.trim(), place: `${place.uri}:${at.line}`, go: () => host.goTo(place) }];
}

/** Lists all places at which the name at an offset stands. */
export async function listUses(host: ListHost, uri: string, offset: number): Promise<void> {
  const places = await host.client.call("references", uri, offset);
  if (places.length === 0) host.say("There is no name here.");
  else
    host.palette.show(
      `${places.length} ${places.length === 1 ? "use" : "uses"}`,
      places.flatMap((place) => itemAt(host, place)),
    );
}

/** Lists what is declared in files. */
export async function listSymbols(host: ListHost, uris: readonly string[]): Promise<void> {
  const found = await Promise.all(
    uris.map(async (uri) => {
      const flat = (node: SymbolNode): SymbolNode[] => [node, ...node.children.flatMap(flat)];
      const symbols = (await host.client.call("symbols", uri)).flatMap(flat);
      return symbols.flatMap(({ name, kind, selection }) =>
        itemAt(host, { uri, ...selection }, name).map((item) => ({ ...item, place: `${kind} ${item.place}` })),
      );
    }),
  );
  host.palette.show("Go to a name", found.flat());
}

/** Lists who calls the function at an offset, and whom it calls: directly, and through tables and prototypes. */
export async function listCalls(host: ListHost, uri: string, offset: number): Promise<void> {
  const { client, palette, say } = host;
  const item = await client.call("callHierarchy", uri, offset);
  if (item === null) {
    say("There is no function here.");
    return;
  }
  const [callers, callees] = await Promise.all([
    client.call("incomingCalls", item),
    client.call("outgoingCalls", item),
  ]);
  const edges = (all: readonly CallEdge[], what: string, inCaller: boolean): PaletteItem[] =>
    all.flatMap((edge) => {
      // Calls are places of the caller.
      const own = inCaller ? edge.item.place.uri : item.place.uri;
      return edge.calls
        .flatMap((span) => itemAt(host, { uri: own, start: span.start, end: span.end }, edge.item.name))
        .map((each) => ({ ...each, place: `${what} ${each.place}` }));
    });
  palette.show(`Calls of ${item.name}`, [...edges(callers, "called at", true), ...edges(callees, "calls at", false)]);
}
