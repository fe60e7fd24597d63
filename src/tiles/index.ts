export { hostTile, type HostTile } from "./host-tile.ts";
export { type Tile, type TileFunctions, tileFunctions, tileOf, wideBytes } from "./tile.ts";
