// Unlike an import of node:http, this does not load its lazy parts, such as undici, into each function process.
const { ServerResponse } = process.getBuiltinModule('http');

const PRELUDE_CONTENT_TYPE = 'application/vnd.awslambda.http-integration-response';
const DELIMITER = '\0'.repeat(8);

type Bytes = string | Uint8Array;
type Callback = (error?: Error | null) => void;

const withPrelude = (prelude: string, bytes: Bytes): Bytes => {
  const head = prelude + DELIMITER;
  return typeof bytes === 'string' ? head + bytes : Buffer.concat([Buffer.from(head), bytes]);
};

/**
 * The response stream of a streamed handler. It is the HTTP response itself, so each write of the function is one
 * write on the socket, and `write` returns false when the reader cannot keep up. The first write takes the metadata
 * prelude along. If nothing but the end follows in the same tick, both are one write.
 */
export class ResponseStream extends ServerResponse {
  #prelude: string | undefined;
  #first: Bytes | undefined;

  setContentType(contentType: string): void {
    this.setHeader('content-type', contentType);
  }

  /**
   * Sets the metadata prelude, which is sent before the first write. As on AWS, an `end` without a write does not
   * send it.
   */
  setPrelude(prelude: unknown): void {
    this.setContentType(PRELUDE_CONTENT_TYPE);
    this.#prelude = JSON.stringify(prelude);
  }

  override write(chunk: unknown, encoding?: BufferEncoding | Callback, callback?: Callback): boolean {
    this.#sendFirst();
    let bytes = typeof chunk === 'string' || chunk instanceof Uint8Array ? chunk : JSON.stringify(chunk);
    if (this.#prelude !== undefined) {
      bytes = withPrelude(this.#prelude, typeof bytes === 'string' && typeof encoding === 'string' ? Buffer.from(bytes, encoding) : bytes);
      this.#prelude = undefined;
      if (encoding === undefined) {
        this.#first = bytes;
        process.nextTick(() => this.#sendFirst());
        return true;
      }
    }
    if (typeof encoding === 'string') return super.write(bytes, encoding, callback);
    return super.write(bytes, encoding ?? callback);
  }

  override end(chunk?: unknown, encoding?: BufferEncoding | Callback, callback?: Callback): this {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined && (chunk === undefined || typeof chunk === 'function')) return super.end(first, chunk as Callback | undefined);
    if (first !== undefined) super.write(first);
    return super.end(chunk, encoding as BufferEncoding, callback);
  }

  #sendFirst(): void {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined && !this.destroyed) super.write(first);
  }
}
