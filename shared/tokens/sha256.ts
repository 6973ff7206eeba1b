import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';

type Bytes = string | ArrayBuffer | ArrayBufferView;

const toBytes = (data: Bytes): string | Uint8Array => {
  if (typeof data === 'string') return data;
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
};

/** SHA-256 with the interface that the signer needs; with a secret it is an HMAC. */
export class Sha256 {
  readonly #secret: Bytes | undefined;
  #hash: Hash | Hmac;

  constructor(secret?: Bytes) {
    this.#secret = secret;
    this.#hash = this.#create();
  }

  #create(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', toBytes(this.#secret));
  }

  update(data: Bytes): void {
    this.#hash.update(toBytes(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#create();
  }
}
