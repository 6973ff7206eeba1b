import * as z from 'zod';
import { notAuthorized } from './fault.ts';

const SECOND_MS = 1_000;

const Expiring = z.object({ exp: z.number() });
const AccessToken = z.object({ exp: z.number(), sub: z.string(), client_id: z.string(), token_use: z.literal('access') });

/** A JSON Web Token's second part; undefined when there is none. */
const payloadOf = (token: string): unknown => {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  } catch {
    return undefined;
  }
};

/** When a token ends, in milliseconds since the epoch; the end of time for one that does not say it. */
export const readExpiry = (token: string): number => {
  const parsed = Expiring.safeParse(payloadOf(token));
  return parsed.success ? parsed.data.exp * SECOND_MS : Number.POSITIVE_INFINITY;
};

/** Whose an access token is, and of which client. Throws NotAuthorizedException for one that has ended, or is none; its signature is not looked at. */
export const readAccessToken = (token: string, now: () => number): { subject: string; clientId: string } => {
  const parsed = AccessToken.safeParse(payloadOf(token));
  if (!parsed.success) throw notAuthorized('Invalid Access Token');
  if (parsed.data.exp * SECOND_MS <= now()) throw notAuthorized('Access Token has expired');
  return { subject: parsed.data.sub, clientId: parsed.data.client_id };
};

/** What cognito-local takes for the access token of a user: it never looks at signatures. */
export const forgeAccessToken = (subject: string, clientId: string): string => {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  return `${encode({ alg: 'none', typ: 'JWT' })}.${encode({ sub: subject, username: subject, client_id: clientId })}.`;
};
