export { hostTile, type HostTile } from "./host-tile.ts";
export { type Tile, tileFunctions, tileFunctionsIn, tileOf, wideBytes } from "./tile.ts";
