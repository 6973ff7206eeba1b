import * as z from 'zod';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { notAuthorized } from './errors.ts';

const AccessToken = z.object({ exp: z.number(), sub: z.string(), client_id: z.string(), token_use: z.literal('access') });

// Undefined if the token is malformed.
const payloadOf = (token: string): unknown => {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  } catch {
    return undefined;
  }
};

/**
 * Reads an access token without verifying its signature. Throws NotAuthorizedException if it is malformed or has
 * expired.
 */
export const readAccessToken = (token: string, now: () => number): { subject: string; clientId: string } => {
  const parsed = AccessToken.safeParse(payloadOf(token));
  if (!parsed.success) throw notAuthorized('Invalid Access Token');
  if (parsed.data.exp * SECOND_MS <= now()) throw notAuthorized('Access Token has expired');
  return { subject: parsed.data.sub, clientId: parsed.data.client_id };
};

/** Creates an access token of a user for cognito-local, which does not verify signatures. */
export const forgeAccessToken = (subject: string, clientId: string): string => {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  return `${encode({ alg: 'none', typ: 'JWT' })}.${encode({ sub: subject, username: subject, client_id: clientId })}.`;
};
