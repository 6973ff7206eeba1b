import { type ApiEvent, headerOf } from '../../shared/http/api-event.ts';
import { InvalidClient, invalidTokenRequest, noScopes } from './errors.ts';

/** A request of an access token. Parameters without a value are absent. */
export interface TokenRequest {
  grantType: string;
  clientId: string;
  /** undefined: the request has no secret. */
  clientSecret: string | undefined;
  parameters: ReadonlyMap<string, string>;
}

type Parameters = ReadonlyMap<string, string>;

// Room for an identity token of another issuer.
const MAX_CHARACTERS = 32_768;
const MAX_PARAMETERS = 32;
const MAX_ID_CHARACTERS = 100;
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

const repeated = () => invalidTokenRequest('A parameter was sent twice. Send each parameter once.');

const textOf = ({ body, isBase64Encoded }: ApiEvent): string => {
  if (!body) throw invalidTokenRequest('The request body is empty. Send the parameters as a form or as a JSON object.');
  if (body.length > 2 * MAX_CHARACTERS) throw tooLong();
  const text = isBase64Encoded ? Buffer.from(body, 'base64').toString() : body;
  if (text.length > MAX_CHARACTERS) throw tooLong();
  return text;
};

const tooLong = () =>
  invalidTokenRequest(`The request body has more than ${MAX_CHARACTERS} characters. Send only the parameters that are described.`);

const fromForm = (text: string): [string, string][] => [...new URLSearchParams(text)];

const notAnObject = () => invalidTokenRequest('The request body is neither a form nor a JSON object of strings. Send one of the two.');

// JSON.parse keeps the last one of two equal keys. All values are texts, so an object has two texts for each key.
const fromJson = (text: string): [string, string][] => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw notAnObject();
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw notAnObject();
  const entries = Object.entries(parsed);
  if (entries.some(([, value]) => typeof value !== 'string')) throw notAnObject();
  const texts = text.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
  if (texts.length !== 2 * entries.length) throw repeated();
  return entries as [string, string][];
};

const parametersOf = (event: ApiEvent): Parameters => {
  if (Object.keys(event.queryStringParameters ?? {}).length > 0)
    throw invalidTokenRequest('Parameters in the URL are not accepted, because URLs end up in logs. Send them in the request body.');
  const contentType = headerOf(event, 'content-type')?.trim() ?? '';
  if (!FORM_TYPE.test(contentType) && !JSON_TYPE.test(contentType))
    throw invalidTokenRequest("Send 'Content-Type: application/x-www-form-urlencoded' or 'application/json', with a body of that type.");
  const text = textOf(event);
  const sent = FORM_TYPE.test(contentType) ? fromForm(text) : fromJson(text);
  if (sent.length > MAX_PARAMETERS) throw invalidTokenRequest('The request has too many parameters. Send only those that are described.');
  if (new Set(sent.map(([name]) => name)).size < sent.length) throw repeated();
  return new Map(sent.filter(([, value]) => value !== ''));
};

// The id and the secret are form-encoded before they are joined: https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new InvalidClient();
  }
};

const basicOf = (event: ApiEvent): { id: string; secret: string } | undefined => {
  const header = headerOf(event, 'authorization');
  if (header === undefined) return undefined;
  const [, credentials] = /^Basic +([0-9A-Za-z+/]+={0,2})\s*$/i.exec(header) ?? [];
  const [, id, secret] = /^([^:]+):(.+)$/s.exec(Buffer.from(credentials ?? '', 'base64').toString()) ?? [];
  if (id === undefined || secret === undefined) throw new InvalidClient();
  return { id: decoded(id), secret: decoded(secret) };
};

/**
 * Reads a request of an access token: a form or a JSON object, with the credentials in it or in the header
 * `Authorization: Basic`. @throws 400, 401 for malformed credentials
 */
export const readTokenRequest = (event: ApiEvent): TokenRequest => {
  const parameters = parametersOf(event);
  const basic = basicOf(event);
  if (basic && parameters.has('client_secret'))
    throw invalidTokenRequest("The request has two secrets. Send the secret in the header Authorization or as 'client_secret'.");
  const named = parameters.get('client_id');
  if (basic && named !== undefined && named !== basic.id)
    throw invalidTokenRequest(
      "The request names two service accounts. Send the id in the header Authorization or as 'client_id'.",
      'client_id',
    );
  const grantType = parameters.get('grant_type');
  if (grantType === undefined) throw invalidTokenRequest("'grant_type' is required. Set it to the grant that you use.", 'grant_type');
  const clientId = basic?.id ?? named;
  if (clientId === undefined) throw invalidTokenRequest("'client_id' is required. Set it to the id of your service account.", 'client_id');
  if (clientId.length > MAX_ID_CHARACTERS) throw new InvalidClient();
  if (parameters.has('scope')) throw noScopes();
  return { grantType, clientId, clientSecret: basic?.secret ?? parameters.get('client_secret'), parameters };
};
