export { hostTile, type HostTile } from "./host-tile.ts";
export { type Tile, tileFunctions, tileFunctionsIn, tileOf, wideBytes } from "./tile.ts";
export { tileRow, type TileRow } from "./tile-row.ts";
export {
  flippedSigns,
  keptWordsBytes,
  type WarpgroupArea,
  warpgroupArea,
  warpgroupFunctions,
  type WarpgroupTile,
  warpgroupTileOf,
} from "./warpgroup.ts";
