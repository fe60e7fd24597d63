/** The host refuses to compile WebAssembly, as the content security policy of a page may demand. */
export class NotAllowed extends Error {
  override readonly name = "NotAllowed";
}

/**
 * Compiles a module.
 *
 * @throws NotAllowed if the host refuses a module that is valid
 */
export function compiledModule(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  try {
    return new WebAssembly.Module(bytes);
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError) || !WebAssembly.validate(bytes)) throw error;
    throw new NotAllowed("this page's policy allows no WebAssembly");
  }
}
