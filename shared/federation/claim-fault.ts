import * as z from 'zod';
import type { TokenFault } from './errors.ts';

const SKEW_SECONDS = 60;
const MAX_SUBJECT_CHARACTERS = 2_048;

/** The claims that every identity token has; all others are kept. */
export const IdentityClaims = z.looseObject({
  iss: z.string(),
  sub: z.string().min(1).max(MAX_SUBJECT_CHARACTERS),
  aud: z.union([z.string(), z.array(z.string())]),
  exp: z.number(),
  iat: z.number(),
});
export type IdentityClaims = z.infer<typeof IdentityClaims>;

export interface ExpectedClaims {
  issuer: string;
  /** For an ID token: our client's id. It must be the party that the token was issued to, if the token names one. */
  audience: string;
  isIdToken: boolean;
  nonce?: string;
  /** The most seconds from the issue to the end. */
  maxLifetimeSeconds?: number;
}

const asNumber = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);

const timeFault = (payload: Readonly<Record<string, unknown>>, maxLifetime: number, now: number): TokenFault | undefined => {
  const [exp, iat] = [asNumber(payload.exp), asNumber(payload.iat)];
  if (exp === undefined || iat === undefined) return 'time_missing';
  if (exp + SKEW_SECONDS <= now) return 'expired';
  if (iat > now + SKEW_SECONDS) return 'issued_in_the_future';
  const nbf = payload.nbf === undefined ? iat : asNumber(payload.nbf);
  if (nbf === undefined) return 'time_missing';
  if (nbf > now + SKEW_SECONDS) return 'not_yet_valid';
  return exp - iat > maxLifetime ? 'lifetime_too_long' : undefined;
};

const partyFault = (
  { azp }: Readonly<Record<string, unknown>>,
  audiences: readonly unknown[],
  clientId: string,
): TokenFault | undefined => {
  const isRight = azp === undefined ? audiences.length === 1 : azp === clientId;
  return isRight ? undefined : 'authorized_party_mismatch';
};

/** Returns the fault of a token's claims, if any. @param now seconds since the epoch */
export const claimFault = (
  payload: Readonly<Record<string, unknown>>,
  { issuer, audience, isIdToken, nonce, maxLifetimeSeconds = Number.POSITIVE_INFINITY }: ExpectedClaims,
  now: number,
): TokenFault | undefined => {
  if (payload.iss !== issuer) return 'issuer_mismatch';
  const audiences: unknown[] = Array.isArray(payload.aud) ? payload.aud : [payload.aud];
  if (!audiences.includes(audience)) return 'audience_mismatch';
  const party = isIdToken ? partyFault(payload, audiences, audience) : undefined;
  if (party) return party;
  if (nonce !== undefined && payload.nonce !== nonce) return 'nonce_mismatch';
  if (!IdentityClaims.shape.sub.safeParse(payload.sub).success) return 'subject_missing';
  return timeFault(payload, maxLifetimeSeconds, now);
};

/** When a token can no longer be accepted, in seconds since the epoch. */
export const acceptableUntil = ({ exp }: IdentityClaims): number => Math.ceil(exp) + SKEW_SECONDS;
