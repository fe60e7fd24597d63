import { activemask, barWarpSync, electSync, matchSync, reduxSync } from "./warp-sync.ts";
import { shfl, shflSync } from "./shfl.ts";
import { voteOld, voteSync } from "./vote.ts";

export const warpInstructions = [
  shfl,
  shflSync,
  barWarpSync,
  voteOld,
  voteSync,
  matchSync,
  activemask,
  reduxSync,
  electSync,
];
