import { bulkInstructions } from "./bulk.ts";
import { clusterInstructions } from "./cluster.ts";
import { copyInstructions } from "./copy.ts";
import { mbarrierInstructions } from "./mbarrier.ts";
import { multimemInstructions } from "./multimem.ts";
import { asynchronousStores } from "./store.ts";
import { tensorMapInstructions } from "./tensor-map.ts";
import { tensorInstructions } from "./tensor.ts";

export const asynchronousInstructions = [
  ...asynchronousStores,
  ...multimemInstructions,
  ...copyInstructions,
  ...bulkInstructions,
  ...tensorInstructions,
  ...tensorMapInstructions,
  ...mbarrierInstructions,
  ...clusterInstructions,
];
