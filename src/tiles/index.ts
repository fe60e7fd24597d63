export { hostTile, type HostTile } from "./host-tile.ts";
export { type Tile, type TileFunctions, tileFunctions, tileFunctionsIn, tileOf, wideBytes } from "./tile.ts";
