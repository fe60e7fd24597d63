import { maskText } from "../ir/lane-mask.ts";
import { fileLayout } from "../ir/index.ts";
import type { BranchEvent, CallEvent, LaneEvent, Observer, ReturnEvent } from "../machine/events.ts";
import type { Activation } from "../machine/state/launch-state.ts";

/** Reports what the manual leaves undefined about calls and other transfers of control and is not a fault anyway. */
export const callSanitizer: Observer = {
  branch: (e) => divergentUni(e, e.mask === 0 ? e.group : e.mask, "a branch"),
  call: (e) => divergentUni(e, e.mask, `a call of \`${e.callee.ir.name}\``),
  return: (e) => {
    divergentUni(e, e.mask, "a return");
    stackImbalance(e);
    noreturnReturned(e);
    const { ir } = e.activation.code;
    if (!ir.noreturn || e.activation.caller === null) return;
    report(e, "noreturn-returned", `\`${ir.name}\` returns, and is declared .noreturn`);
  },
};

/** vISA: it is the call that promises not to return, not the function. */
function noreturnReturned(e: ReturnEvent): void {
  const { callSite, code } = e.activation;
  const op = callSite?.instruction.op;
  if (op?.kind !== "file-call" || op.noreturn !== true) return;
  const message = `\`${code.ir.name}\` returns, and its call says that it does not`;
  report(e, "noreturn-returned", message, "call it without .noreturn");
}

/**
 * vISA: %sp is passed to a function and comes back with its last lane; its value at the call is still in the caller's
 * file.
 */
function stackImbalance(e: ReturnEvent): void {
  const { activation } = e;
  const { caller, code } = activation;
  if (code.ir.file === undefined || caller === null || activation.within !== null || activation.live !== e.mask) return;
  const [before, after] = [stackPointer(caller), stackPointer(activation)];
  if (before === after) return;
  const off = after > before ? `${after - before} bytes above` : `${before - after} bytes below`;
  const message = `\`${code.ir.name}\` returns with %sp = 0x${after.toString(16)}, ${off} the 0x${before.toString(16)} that it got`;
  const help =
    after > before
      ? "give back what has been taken from the stack before fret"
      : "give back no more than has been taken from the stack";
  report(e, "stack-imbalance", message, help, "warning");
}

const stackPointer = ({ small, code }: Activation): bigint =>
  small.data.getBigUint64(code.byteFileAt + fileLayout.sp.at, true);

/** Sections 9.7.12.3 to 9.7.12.6: with `.uni`, all lanes that execute the instruction do the same. */
function divergentUni(e: BranchEvent | CallEvent | ReturnEvent, lanes: number, what: string): void {
  if (!e.uniform || lanes === e.group) return;
  const [some, all] = [lanes, e.group].map(maskText);
  report(
    e,
    "divergent-uni",
    `.uni promises that all lanes do the same, and this is ${what} by lanes ${some} of ${all}`,
    "leave .uni out where lanes may differ",
  );
}

function report(
  e: LaneEvent,
  code: string,
  message: string,
  help?: string,
  severity: "error" | "warning" = "error",
): void {
  const { warp, site, activation, mask } = e;
  warp.cta.grid.reports.add({ code, severity, message, help, site, activation, lanes: mask });
}
