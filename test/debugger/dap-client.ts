import { readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import { DapSession } from "../../src/debugger/dap/dap-session.ts";
import { openSession, pathOf } from "./jobs.ts";

// The protocol's own schema, without its descriptions. See schema/LICENSE.
const schema = JSON.parse(readFileSync(new URL("schema/debug-adapter-protocol.json", import.meta.url), "utf8")) as {
  $schema?: string;
  definitions: Record<string, object>;
};
delete schema.$schema;
const ajv = new Ajv({ strict: false, validateFormats: false }).addSchema(schema, "dap");
const validators = new Map<string, ValidateFunction>();

/** Throws if a message does not conform to the protocol's schema. */
function check(kind: string, message: object): void {
  if (!(kind in schema.definitions)) throw new Error(`the protocol has no ${kind}`);
  let validate = validators.get(kind);
  if (validate === undefined) validators.set(kind, (validate = ajv.getSchema(`dap#/definitions/${kind}`)!));
  if (!validate(message)) throw new Error(`${kind}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(message)}`);
}

const capital = (name: string): string => name[0]!.toUpperCase() + name.slice(1);

/** Requests and events specific to this adapter. */
const isOwn = (name: string): boolean => name.startsWith("lanewise/");

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape the schema has checked
type Body = any;

/** An editor for tests: every message in both directions is checked against the schema. */
export class DapClient {
  readonly events: { readonly event: string; readonly body: Body }[] = [];
  readonly #session: DapSession;
  readonly #responses = new Map<number, Body>();
  #seq = 0;
  #lastSeq = 0;

  /** `sources`: where the editor finds files that programs were compiled from. */
  constructor(options: Parameters<typeof openSession>[1] = {}, sources: Readonly<Record<string, string>> = {}) {
    this.#session = new DapSession({
      send: (message) => this.#receive(message),
      open: async (launch, onLog) => openSession(launch.string("program")!, { ...options, onLog }),
      pathOf: (path) => (/\.(ptx|visaasm)$/.test(path) ? pathOf(path) : (sources[path] ?? null)),
      end: () => {},
    });
  }

  /**
   * Sends a request and returns the body of the response; throws the message of a failed one. Resolves when everything
   * that the request starts has finished.
   */
  async request(command: string, args?: object): Promise<Body> {
    const seq = ++this.#seq;
    const message = { seq, type: "request", command, ...(args === undefined ? {} : { arguments: args }) };
    check(isOwn(command) ? "Request" : `${capital(command)}Request`, message);
    await this.#session.receive(message);
    const response = this.#responses.get(seq);
    if (!response.success) throw new Error(response.message);
    return response.body;
  }

  /** Sends data that may not be a valid message. */
  async send(message: unknown): Promise<void> {
    await this.#session.receive(message);
  }

  /** Returns the last event of a kind. */
  last(event: string): Body {
    return this.events.findLast((e) => e.event === event)?.body;
  }

  async launch(program: string, args: object = {}): Promise<void> {
    await this.request("initialize", { adapterID: "lanewise", supportsProgressReporting: true });
    await this.request("launch", { program, ...args });
  }

  #receive(message: Body): void {
    if (message.seq !== ++this.#lastSeq) throw new Error(`message ${message.seq} behind ${this.#lastSeq - 1}`);
    if (message.type === "event") {
      check(isOwn(message.event) ? "Event" : `${capital(message.event)}Event`, message);
      this.events.push(message);
      return;
    }
    const kind = message.success ? `${capital(message.command)}Response` : "ErrorResponse";
    check(isOwn(message.command) && message.success ? "Response" : kind, message);
    if (this.#responses.has(message.request_seq)) throw new Error(`${message.command} has been answered twice`);
    this.#responses.set(message.request_seq, message);
  }
}
