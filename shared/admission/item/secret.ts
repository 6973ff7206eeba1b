import type { HostScope } from '../../hosts/host.ts';
import { CHECKSUM_CHARACTERS, hasChecksum, hashOfSecret, newCheckedSecret, SECRET_CHARACTERS } from '../../ids/checked-secret.ts';

// The letter in a key identifies its host, so a key that was sent to the wrong host is rejected without a read.
const scopes = { s: 'serverless', o: 'on_demand' } as const satisfies Record<string, HostScope>;

const ID_CHARACTERS = 18;
const FORM = new RegExp(`^sk-([so])([0-9A-Za-z]{${ID_CHARACTERS}})[0-9A-Za-z]{${SECRET_CHARACTERS + CHECKSUM_CHARACTERS}}$`);

/** The parts of an API key that a caller sent. */
export interface PresentedKey {
  keyId: string;
  scope: HostScope;
  hash: Buffer;
}

/** A new secret for a key id: `sk-`, the scope's letter, the id without its prefix, 166 random bits, a checksum. */
export const newSecret = (scope: HostScope, keyId: string): { secret: string; hash: Buffer } => {
  const secret = newCheckedSecret(`sk-${scope === 'serverless' ? 's' : 'o'}${keyId.slice(-ID_CHARACTERS)}`);
  return { secret, hash: hashOfSecret(secret) };
};

/** Parses a presented key; undefined if its form or checksum is wrong. */
export const parseSecret = (secret: string): PresentedKey | undefined => {
  const [, letter, id] = FORM.exec(secret) ?? [];
  if (!letter || !id || !hasChecksum(secret)) return undefined;
  return { keyId: `key_${id}`, scope: scopes[letter as keyof typeof scopes], hash: hashOfSecret(secret) };
};
