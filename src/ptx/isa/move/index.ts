import { getctarank, mapa } from "./cluster.ts";
import { cvta, isspacep } from "./cvta.ts";
import { mov } from "./mov.ts";

/** Copies and address conversions: sections 9.7.9.3, 9.7.9.4, 9.7.9.19, 9.7.9.20, 9.7.9.23 and 9.7.9.24. */
export const moveInstructions = [mov, isspacep, cvta, mapa, getctarank] as const;
