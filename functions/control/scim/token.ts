import * as z from 'zod';
import {
  CHECKSUM_CHARACTERS,
  hasChecksum,
  hashOfSecret,
  hintOf,
  newCheckedSecret,
  SECRET_CHARACTERS,
} from '../../../shared/ids/checked-secret.ts';
import { prefixes, RANDOM_CHARACTERS } from '../../../shared/ids/id.ts';

/** A token with which a company's identity provider provisions users, as callers see it. */
export const ScimToken = z.object({
  id: z.string(),
  object: z.literal('scim_token'),
  identity_provider: z.string(),
  hint: z.string().meta({ description: 'The start and the end of the token.', examples: ['scim…4f2a'] }),
  created_at: z.int(),
  last_used_at: z.int().nullable().meta({ description: 'Unix time in seconds, exact to a minute; null if it was never used.' }),
  last_ip_address: z.string().nullable(),
});
export type ScimToken = z.infer<typeof ScimToken>;

export const CreatedScimToken = ScimToken.extend({
  token: z.string().meta({ description: 'The token. It is shown only here.' }),
});

const FORM = new RegExp(
  `^${prefixes.scimToken}([0-9A-Za-z]{${RANDOM_CHARACTERS}})([0-9A-Za-z]{${RANDOM_CHARACTERS}})[0-9A-Za-z]{${SECRET_CHARACTERS + CHECKSUM_CHARACTERS}}$`,
);

/** The parts of a token that a caller sent. */
export interface PresentedScimToken {
  identityProvider: string;
  id: string;
  hash: Buffer;
}

/** A new token: its prefix, the ids of its connection and its own, 166 random bits and a checksum. */
export const newScimToken = (identityProvider: string, id: string): { token: string; hash: Buffer; hint: string } => {
  const token = newCheckedSecret(prefixes.scimToken + identityProvider.slice(-RANDOM_CHARACTERS) + id.slice(-RANDOM_CHARACTERS));
  return { token, hash: hashOfSecret(token), hint: hintOf(token) };
};

/** Parses a token; undefined if its form or checksum is wrong. */
export const parseScimToken = (token: string): PresentedScimToken | undefined => {
  const [, connection, id] = FORM.exec(token) ?? [];
  if (!connection || !id || !hasChecksum(token)) return undefined;
  return { identityProvider: prefixes.identityProvider + connection, id: prefixes.scimToken + id, hash: hashOfSecret(token) };
};
