import * as z from 'zod';
import { createDocumentCache, type DocumentRequest } from './document-cache.ts';
import { IssuerUnavailable } from './errors.ts';
import type { FetchDocument } from './fetch-document.ts';

const MAX_CHARACTERS = 2_048;
const MAX_VALUES = 100;

const Url = z.string().min(1).max(MAX_CHARACTERS);
const Names = z.array(z.string()).max(MAX_VALUES);

/** The metadata of an issuer that we use: OpenID Connect Discovery 1.0, section 3, and RFC 9207. */
export const IssuerMetadata = z.object({
  issuer: Url,
  jwks_uri: Url,
  authorization_endpoint: Url.optional(),
  token_endpoint: Url.optional(),
  token_endpoint_auth_methods_supported: Names.optional(),
  id_token_signing_alg_values_supported: Names.optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
});
export type IssuerMetadata = z.infer<typeof IssuerMetadata>;

const urlOf = (issuer: string): string => `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;

/**
 * Creates the discovery of issuers, cached for an hour.
 * @param now milliseconds since the epoch
 */
export const createDiscovery = (fetchDocument: FetchDocument, now: () => number) => {
  const documents = createDocumentCache(async (issuer) => {
    const parsed = IssuerMetadata.safeParse(await fetchDocument(urlOf(issuer)));
    if (!parsed.success) throw new IssuerUnavailable('invalid_document');
    if (parsed.data.issuer !== issuer) throw new IssuerUnavailable('issuer_differs');
    return parsed.data;
  }, now);

  /** Returns the metadata of an issuer, which must name this very issuer. @throws IssuerUnavailable */
  return (issuer: string, request?: DocumentRequest): Promise<IssuerMetadata> => documents(issuer, request);
};

export type Discovery = ReturnType<typeof createDiscovery>;
