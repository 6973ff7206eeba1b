import { hash, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { HostScope } from '../../hosts/host.ts';
import { randomBase62, toBase62 } from '../../ids/base62.ts';

// The letter in a key identifies its host, so a key that was sent to the wrong host is rejected without a read.
const scopes = { s: 'serverless', o: 'on_demand' } as const satisfies Record<string, HostScope>;

const ID_CHARACTERS = 18;
// 28 base62 characters hold 166 random bits: too many to guess, so an unsalted SHA-256 is enough.
const RANDOM_CHARACTERS = 28;
const CHECKSUM_CHARACTERS = 6;
const FORM = new RegExp(`^sk-([so])([0-9A-Za-z]{${ID_CHARACTERS}})[0-9A-Za-z]{${RANDOM_CHARACTERS}}([0-9A-Za-z]{${CHECKSUM_CHARACTERS}})$`);

/** The parts of an API key that a caller sent. */
export interface PresentedKey {
  keyId: string;
  scope: HostScope;
  hash: Buffer;
}

const checksum = (text: string): string => toBase62(crc32(text), CHECKSUM_CHARACTERS);

const sha256 = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/** A new secret for a key id: `sk-`, the scope's letter, the id without its prefix, 166 random bits, a checksum. */
export const newSecret = (scope: HostScope, keyId: string): { secret: string; hash: Buffer } => {
  const body = `sk-${scope === 'serverless' ? 's' : 'o'}${keyId.slice(-ID_CHARACTERS)}${randomBase62(RANDOM_CHARACTERS)}`;
  const secret = body + checksum(body);
  return { secret, hash: sha256(secret) };
};

/** Parses a presented key; undefined if its form or checksum is wrong. */
export const parseSecret = (secret: string): PresentedKey | undefined => {
  const [, letter, id, sum] = FORM.exec(secret) ?? [];
  if (!letter || !id || checksum(secret.slice(0, -CHECKSUM_CHARACTERS)) !== sum) return undefined;
  return { keyId: `key_${id}`, scope: scopes[letter as keyof typeof scopes], hash: sha256(secret) };
};

/** Compares two SHA-256 digests in constant time. */
export const sameHash = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);
