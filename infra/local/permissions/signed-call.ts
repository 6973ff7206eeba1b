import type { IncomingHttpHeaders } from 'node:http';

/** A request to an AWS service, as it arrived. */
export interface Call {
  method: string;
  url: URL;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** The signer of a request, and the service that it is signed for. */
export interface Signer {
  accessKeyId: string;
  region: string;
  service: string;
}

const parse = (credential: string | undefined | null): Signer | undefined => {
  const [accessKeyId, , region, service] = (credential ?? '').split('/');
  return accessKeyId && region && service ? { accessKeyId, region, service } : undefined;
};

// The fields of a form are before its file.
const MAX_FIELDS_BYTES = 20_000;

const fieldOfForm = ({ headers, body }: Call): string | undefined => {
  if (!headers['content-type']?.startsWith('multipart/form-data')) return undefined;
  const fields = body.subarray(0, MAX_FIELDS_BYTES).toString('latin1');
  return /name="x-amz-credential"\r\n(?:[^\r\n]+\r\n)*\r\n([^\r\n]+)/i.exec(fields)?.[1];
};

/**
 * Reads a call's signer from its header, URL or form; undefined for calls of Cognito by an app's client, which have
 * none.
 */
export const signerOf = (call: Call): Signer | undefined =>
  parse(/Credential=([^,\s]+)/.exec(call.headers.authorization ?? '')?.[1]) ??
  parse(call.url.searchParams.get('X-Amz-Credential')) ??
  parse(fieldOfForm(call));
