// Unlike an import of node:http, this does not load its lazy parts, such as undici, into each function process.
const { ServerResponse } = process.getBuiltinModule('http');

const PRELUDE_CONTENT_TYPE = 'application/vnd.awslambda.http-integration-response';
const DELIMITER = Buffer.alloc(8);

type WriteCallback = (error: Error | null | undefined) => void;

/**
 * The response stream of a streamed handler. It is the HTTP response itself, so each write of the function is one write on the socket,
 * and `write` returns false when the reader cannot keep up. The first write takes the metadata prelude along.
 */
export class ResponseStream extends ServerResponse {
  #prelude: string | undefined;

  setContentType(contentType: string): void {
    this.setHeader('content-type', contentType);
  }

  /** Sets the metadata prelude, which is sent before the first write. As on AWS, an `end` without a write does not send it. */
  setPrelude(prelude: unknown): void {
    this.setContentType(PRELUDE_CONTENT_TYPE);
    this.#prelude = JSON.stringify(prelude);
  }

  override write(chunk: unknown, encoding?: BufferEncoding | WriteCallback, callback?: WriteCallback): boolean {
    let bytes = typeof chunk === 'string' || chunk instanceof Uint8Array ? chunk : JSON.stringify(chunk);
    if (this.#prelude !== undefined) {
      const first = typeof bytes === 'string' ? Buffer.from(bytes, typeof encoding === 'string' ? encoding : 'utf8') : bytes;
      bytes = Buffer.concat([Buffer.from(this.#prelude), DELIMITER, first]);
      this.#prelude = undefined;
    }
    if (typeof encoding === 'string') return super.write(bytes, encoding, callback);
    return super.write(bytes, encoding ?? callback);
  }
}
