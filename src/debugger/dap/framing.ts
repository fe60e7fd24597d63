const separator = "\r\n\r\n";
const utf8 = new TextDecoder();
/** A header, which has one short line. */
const longestHeader = 4096;

/** A message as it goes through a stream. */
export function frame(message: object): Uint8Array {
  const body = new TextEncoder().encode(JSON.stringify(message));
  const header = new TextEncoder().encode(`Content-Length: ${body.length}${separator}`);
  const bytes = new Uint8Array(header.length + body.length);
  bytes.set(header);
  bytes.set(body, header.length);
  return bytes;
}

/** Finds the messages in a stream of bytes. */
export class Unframer {
  #bytes = new Uint8Array();

  /** Whether a message has begun that has not ended. */
  get isWithin(): boolean {
    return this.#bytes.length > 0;
  }

  /** The texts of the messages that are complete with these bytes. Throws an Error where the stream makes no sense. */
  push(chunk: Uint8Array): readonly string[] {
    const bytes = new Uint8Array(this.#bytes.length + chunk.length);
    bytes.set(this.#bytes);
    bytes.set(chunk, this.#bytes.length);
    const messages: string[] = [];
    let at = 0;
    for (;;) {
      const head = utf8.decode(bytes.subarray(at, at + longestHeader));
      const end = head.indexOf(separator);
      if (end < 0) {
        if (bytes.length - at > longestHeader) throw new Error("a header without an end");
        break;
      }
      const [, length] = /^Content-Length:\s*(\d+)\s*$/im.exec(head.slice(0, end)) ?? [];
      if (length === undefined) throw new Error("a header without a Content-Length");
      // Headers are of single bytes.
      const start = at + end + separator.length;
      if (bytes.length < start + Number(length)) break;
      messages.push(utf8.decode(bytes.subarray(start, start + Number(length))));
      at = start + Number(length);
    }
    this.#bytes = bytes.slice(at);
    return messages;
  }
}
