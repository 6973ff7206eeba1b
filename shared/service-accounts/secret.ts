import { CHECKSUM_CHARACTERS, hasChecksum, hashOfSecret, hintOf, newCheckedSecret, SECRET_CHARACTERS } from '../ids/checked-secret.ts';
import { prefixes, RANDOM_CHARACTERS } from '../ids/id.ts';

const FORM = new RegExp(
  `^(${prefixes.serviceAccountSecret}[0-9A-Za-z]{${RANDOM_CHARACTERS}})[0-9A-Za-z]{${SECRET_CHARACTERS + CHECKSUM_CHARACTERS}}$`,
);

/** A secret's text, its hash and its hint. */
export interface NewServiceAccountSecret {
  secret: string;
  hash: Buffer;
  hint: string;
}

/** A new secret: its id, 166 random bits and a checksum. */
export const newServiceAccountSecret = (id: string): NewServiceAccountSecret => {
  const secret = newCheckedSecret(id);
  return { secret, hash: hashOfSecret(secret), hint: hintOf(secret) };
};

/** Parses a secret that a program sent; undefined if its form or checksum is wrong. */
export const parseServiceAccountSecret = (secret: string): { id: string; hash: Buffer } | undefined => {
  const [, id] = FORM.exec(secret) ?? [];
  return id !== undefined && hasChecksum(secret) ? { id, hash: hashOfSecret(secret) } : undefined;
};
