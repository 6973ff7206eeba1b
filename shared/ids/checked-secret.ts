import { hash, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { randomBase62, toBase62 } from './base62.ts';

/** 28 base62 characters hold 166 random bits: too many to guess, so an unsalted SHA-256 is enough. */
export const SECRET_CHARACTERS = 28;
export const CHECKSUM_CHARACTERS = 6;

const checksum = (text: string): string => toBase62(crc32(text), CHECKSUM_CHARACTERS);

/** A new secret: this start, such as a prefix and an id, then 166 random bits and a checksum. */
export const newCheckedSecret = (start: string): string => {
  const body = start + randomBase62(SECRET_CHARACTERS);
  return body + checksum(body);
};

/** Says if a secret ends with its checksum: one that is incomplete or mistyped is rejected without a read. */
export const hasChecksum = (secret: string): boolean =>
  checksum(secret.slice(0, -CHECKSUM_CHARACTERS)) === secret.slice(-CHECKSUM_CHARACTERS);

/** The SHA-256 of a secret, which is all that is stored of it. */
export const hashOfSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');

const HINT_START = 4;
const HINT_END = 4;

/** The start and the end of a secret, by which people tell their secrets apart. */
export const hintOf = (secret: string): string => `${secret.slice(0, HINT_START)}…${secret.slice(-HINT_END)}`;

/** Compares two SHA-256 digests in constant time. */
export const sameHash = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);
