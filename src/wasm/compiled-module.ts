/** The host compiles nothing: the content security policy of a page may want it so. */
export class NotAllowed extends Error {
  override readonly name = "NotAllowed";
}

/**
 * Compiles a module.
 *
 * @throws NotAllowed where the host refuses a module with which nothing is wrong
 */
export function compiledModule(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  try {
    return new WebAssembly.Module(bytes);
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError) || !WebAssembly.validate(bytes)) throw error;
    throw new NotAllowed("this page's policy allows no WebAssembly");
  }
}
