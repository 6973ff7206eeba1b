import { EMBEDDING_MODEL, REASONING_MODEL, RERANK_MODEL } from '../../../../infra/local/container.ts';
import { inferenceHostRoutes } from '../../../../shared/hosts/inference-routes.ts';
import { COUNT_TOKENS_PATH, MESSAGES_PATH } from '../../../../shared/http/messages-path.ts';
import type { SignedIn } from '../../clients/control.ts';
import type { HostName } from '../../clients/hosts.ts';
import type { Identities } from './identities.ts';

/** The sender of a cell's request. */
export interface TableCaller {
  /** The API key of an inference host. */
  secret: string;
  /** The model's name. */
  model: string;
  /** A user of the control plane. */
  user: SignedIn;
  /** Identities of the user's organization. */
  identities: Identities;
  /** The name of the API key that the caller creates. */
  newKeyName: string;
}

/** One kind of request of the fault table. Each cell sends it with a key of its own. */
export interface TableRoute {
  name: string;
  host: HostName | 'control';
  path: string;
  /** undefined: a GET. */
  bodyOf?: (caller: TableCaller) => object | Promise<object>;
  /** The caller's means of authentication. */
  access: 'key' | 'session' | 'scim' | 'none';
  /** True if a complete reply is charged. Tokenization is admitted, so it has an event, but it is free. */
  isCharged: boolean;
  stream: boolean;
  /** `fallback`: another model can answer. `pooling`: the model generates no text, and is invoked without a stream. */
  kind?: 'fallback' | 'pooling';
  /** Set if it creates an API key with the caller's name for it. */
  createsKey?: true;
}

const MAX_TOKENS = 8;
const sampling = { temperature: 0, ignore_eos: true };
const conversation = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: MAX_TOKENS };
const chat = { ...sampling, ...conversation };
const message = { temperature: 0, ...conversation };
const completion = { ...sampling, prompt: 'Hello', max_tokens: MAX_TOKENS };
const response = { temperature: 0, input: 'Hello', max_output_tokens: 16 };

const ofModel =
  (fields: object) =>
  ({ model }: TableCaller): object => ({ ...fields, model });

const wholeAndStream = (name: string, host: HostName, path: string, fields: object): TableRoute[] =>
  [false, true].map((stream) => ({ name, host, path, stream, access: 'key', isCharged: true, bodyOf: ofModel({ ...fields, stream }) }));

const pooling = { stream: false, access: 'key', isCharged: true, kind: 'pooling' } as const;
const { createEmbeddings, createRerank } = inferenceHostRoutes;
const toRank = { query: 'Hello', documents: ['Hello', 'Goodbye'] };

const chatWithFallback: TableRoute[] = wholeAndStream('chat completions with a fallback', 'serverless', '/v1/chat/completions', chat).map(
  ({ bodyOf, ...route }) => ({
    ...route,
    kind: 'fallback',
    bodyOf: async (caller) => ({ ...(await bodyOf?.(caller)), models: [caller.model, REASONING_MODEL] }),
  }),
);

const free = { isCharged: false, stream: false } as const;

/** The requests to the inference hosts, in the table's order. */
export const INFERENCE_ROUTES: readonly TableRoute[] = [
  ...wholeAndStream('chat completions', 'serverless', '/v1/chat/completions', chat),
  ...chatWithFallback,
  ...wholeAndStream('completions', 'serverless', '/v1/completions', completion),
  ...wholeAndStream('responses', 'serverless', '/v1/responses', response),
  ...wholeAndStream('messages', 'serverless', MESSAGES_PATH, message),
  ...wholeAndStream('chat completions', 'on-demand', '/v1/chat/completions', chat),
  ...wholeAndStream('responses', 'on-demand', '/v1/responses', response),
  ...wholeAndStream('messages', 'on-demand', MESSAGES_PATH, message),
  {
    ...pooling,
    name: 'embeddings',
    host: 'serverless',
    path: createEmbeddings.path,
    bodyOf: () => ({ model: EMBEDDING_MODEL, input: ['Hello', 'Goodbye'] }),
  },
  { ...pooling, name: 'rerank', host: 'on-demand', path: createRerank.path, bodyOf: () => ({ ...toRank, model: RERANK_MODEL }) },
  { ...free, name: 'count tokens', host: 'serverless', path: COUNT_TOKENS_PATH, access: 'key', bodyOf: ofModel(message) },
  { ...free, name: 'tokenize', host: 'serverless', path: '/tokenize', access: 'key', bodyOf: ofModel({ prompt: 'Hello' }) },
  { ...free, name: 'detokenize', host: 'serverless', path: '/detokenize', access: 'key', bodyOf: ofModel({ tokens: [48, 49] }) },
  { ...free, name: 'models', host: 'serverless', path: '/v1/models', access: 'none' },
];

const control = { ...free, host: 'control' } as const;
const TOKEN_PATH = '/v1/auth/token';
// The hash of a verifier that nobody needs: no login is finished.
const CODE_CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

/** The requests to the control plane, in the table's order. */
export const CONTROL_ROUTES: readonly TableRoute[] = [
  {
    ...control,
    name: 'log in',
    path: '/v1/auth/login',
    access: 'none',
    bodyOf: ({ user: { email, password } }) => ({ email, password }),
  },
  {
    ...control,
    name: 'refresh a session',
    path: '/v1/auth/refresh',
    access: 'none',
    bodyOf: ({ user: { refreshToken } }) => ({ refresh_token: refreshToken }),
  },
  {
    ...control,
    name: 'log in with a secret',
    path: TOKEN_PATH,
    access: 'none',
    bodyOf: ({
      identities: {
        serviceAccount: { id, secret },
      },
    }) => ({
      grant_type: 'client_credentials',
      client_id: id,
      client_secret: secret,
    }),
  },
  {
    ...control,
    name: "log in with a workload's token",
    path: TOKEN_PATH,
    access: 'none',
    bodyOf: ({ identities: { workload } }) => workload.exchange(),
  },
  {
    ...control,
    name: 'log in with an identity provider',
    path: '/v1/auth/sso',
    access: 'none',
    bodyOf: ({ identities: { address } }) => ({ email: address, code_challenge: CODE_CHALLENGE, redirect_uri: 'http://127.0.0.1:9/' }),
  },
  { ...control, name: 'own user', path: '/v1/me', access: 'session' },
  { ...control, name: 'own sessions', path: '/v1/me/sessions', access: 'session' },
  { ...control, name: 'models', path: '/v1/models', access: 'session' },
  { ...control, name: 'list API keys', path: '/v1/api-keys', access: 'session' },
  {
    ...control,
    name: 'create an API key',
    path: '/v1/api-keys',
    access: 'session',
    bodyOf: ({ newKeyName }) => ({ name: newKeyName }),
    createsKey: true,
  },
  { ...control, name: 'list service accounts', path: '/v1/service-accounts', access: 'session' },
  { ...control, name: 'list identity providers', path: '/v1/identity-providers', access: 'session' },
  { ...control, name: 'list users by SCIM', path: '/scim/v2/Users', access: 'scim' },
];
