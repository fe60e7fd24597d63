const separator = "\r\n\r\n";
const utf8 = new TextDecoder();
/** The longest header to expect, in bytes; a real one is a single short line. */
const maxHeaderBytes = 4096;

/** Encodes a message for a stream: a `Content-Length` header and the JSON text in UTF-8. */
export function frame(message: object): Uint8Array {
  const body = new TextEncoder().encode(JSON.stringify(message));
  const header = new TextEncoder().encode(`Content-Length: ${body.length}${separator}`);
  const bytes = new Uint8Array(header.length + body.length);
  bytes.set(header);
  bytes.set(body, header.length);
  return bytes;
}

/** Splits a stream of bytes into messages. */
export class Unframer {
  #bytes = new Uint8Array();

  /** Whether a message has begun but not ended. */
  get isWithin(): boolean {
    return this.#bytes.length > 0;
  }

  /** Adds bytes and returns the texts of the messages that they complete. Throws an Error if a header is malformed. */
  push(chunk: Uint8Array): readonly string[] {
    const bytes = new Uint8Array(this.#bytes.length + chunk.length);
    bytes.set(this.#bytes);
    bytes.set(chunk, this.#bytes.length);
    const messages: string[] = [];
    let at = 0;
    for (;;) {
      const head = utf8.decode(bytes.subarray(at, at + maxHeaderBytes));
      const end = head.indexOf(separator);
      if (end < 0) {
        if (bytes.length - at > maxHeaderBytes) throw new Error("a header without an end");
        break;
      }
      const [, length] = /^Content-Length:\s*(\d+)\s*$/im.exec(head.slice(0, end)) ?? [];
      if (length === undefined) throw new Error("a header without a Content-Length");
      // Headers are ASCII, so characters are bytes.
      const start = at + end + separator.length;
      if (bytes.length < start + Number(length)) break;
      messages.push(utf8.decode(bytes.subarray(start, start + Number(length))));
      at = start + Number(length);
    }
    this.#bytes = bytes.slice(at);
    return messages;
  }
}
