import { signatureOf } from "../../names/index.ts";
import type { PtxDevice } from "../../runtime/device/ptx-device.ts";
import { defaultHeapBytes } from "./device-properties.ts";

/** Makes a new machine one for programs. `quarantine`: freed memory is not given out again; `warn` tells the user. */
export function prepareMachine({ memory }: PtxDevice, quarantine: boolean, warn: (text: string) => void): void {
  memory.quarantine = quarantine;
  memory.heap.limit = defaultHeapBytes;
  memory.pending.onLongWait = (waiting, running) => {
    const names = `\`${signatureOf(waiting)}\` has waited 10 s for \`${signatureOf(running)}\` to end`;
    const why = "Launches that are watched run one at a time: what waits for one of another stream waits for ever";
    warn(`${names}. ${why}`);
  };
}
