import type { GuardedRequest } from '../network/guarded-request.ts';
import { IssuerUnavailable } from './errors.ts';

/** Fetches a JSON document of an issuer. @throws IssuerUnavailable */
export type FetchDocument = (url: string) => Promise<unknown>;

/** The time for a document of an issuer, with DNS, connection and TLS. */
export const DOCUMENT_MS = 2_000;

const HTTP_OK = 200;

const parse = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new IssuerUnavailable('not_json');
  }
};

/** Fetches documents of up to 64 kB. @param request with a limit of DOCUMENT_MS */
export const createFetchDocument =
  (request: GuardedRequest): FetchDocument =>
  async (url) => {
    const reply = await request(url, { method: 'GET', headers: { accept: 'application/json' } });
    if (reply.error !== null) throw new IssuerUnavailable(reply.error);
    if (reply.status !== HTTP_OK) throw new IssuerUnavailable('bad_status');
    if (!reply.isComplete) throw new IssuerUnavailable('body_too_long_or_cut');
    return parse(reply.body);
  };
