import { createHash } from 'node:crypto';

const md5 = (content: Uint8Array): Buffer => createHash('md5').update(content).digest();

export const etagOf = (content: Uint8Array): string => `"${md5(content).toString('hex')}"`;

/** The tag of an object that was uploaded in parts. */
export const etagOfParts = (parts: readonly Uint8Array[]): string =>
  `"${md5(Buffer.concat(parts.map(md5))).toString('hex')}-${parts.length}"`;
