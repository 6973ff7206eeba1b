import { COUNT_TOKENS_PATH, MESSAGES_PATH } from '../http/messages-path.ts';
import { MODELS_PATH } from '../models/models-path.ts';
import type { HostScope } from './host.ts';
import type { Method, Operation } from './operation.ts';

interface InferenceHostRoute {
  method: Method;
  path: string;
  servedBy: 'inference' | 'catalog';
  /** The hosts that have it. */
  scopes: readonly HostScope[];
}

const both = ['serverless', 'on_demand'] as const;
const serverlessOnly = ['serverless'] as const;
const inference = { method: 'POST', servedBy: 'inference' } as const;
const catalog = { method: 'GET', servedBy: 'catalog', scopes: both } as const;
const RESPONSES = '/v1/responses';

/**
 * Every route of the inference hosts but those that all hosts have, by operation id. If two paths match a request,
 * the first one is used.
 */
export const inferenceHostRoutes = {
  createChatCompletion: { ...inference, path: '/v1/chat/completions', scopes: both },
  createCompletion: { ...inference, path: '/v1/completions', scopes: serverlessOnly },
  createEmbeddings: { ...inference, path: '/v1/embeddings', scopes: both },
  createRerank: { ...inference, path: '/v1/rerank', scopes: both },
  createRerankV2: { ...inference, path: '/v2/rerank', scopes: both },
  createMessage: { ...inference, path: MESSAGES_PATH, scopes: both },
  countMessageTokens: { ...inference, path: COUNT_TOKENS_PATH, scopes: both },
  createResponse: { ...inference, path: RESPONSES, scopes: both },
  retrieveResponse: { ...catalog, path: `${RESPONSES}/{id}` },
  deleteResponse: { ...catalog, method: 'DELETE', path: `${RESPONSES}/{id}` },
  listInputItems: { ...catalog, path: `${RESPONSES}/{id}/input_items` },
  tokenize: { ...inference, path: '/tokenize', scopes: serverlessOnly },
  detokenize: { ...inference, path: '/detokenize', scopes: serverlessOnly },
  listModels: { ...catalog, path: MODELS_PATH },
  retrieveModel: { ...catalog, path: `${MODELS_PATH}/{model+}` },
  retrieveKey: { ...catalog, path: '/v1/key' },
} as const satisfies Record<string, InferenceHostRoute>;

/** Routes of OpenAI's API that no host has. Their last segment is no id of a response. */
export const absentPaths: readonly string[] = [`${RESPONSES}/compact`, `${RESPONSES}/input_tokens`];

type InferenceHostRoutes = typeof inferenceHostRoutes;

/** The ids of the operations that a function serves. */
export type OperationsOf<Name extends InferenceHostRoute['servedBy']> = {
  [Id in keyof InferenceHostRoutes]: InferenceHostRoutes[Id]['servedBy'] extends Name ? Id : never;
}[keyof InferenceHostRoutes];

/** The routes of a host, with their operations' ids. */
export const routesOfHost = (scope: HostScope): (InferenceHostRoute & { id: keyof InferenceHostRoutes })[] =>
  Object.entries(inferenceHostRoutes).flatMap(([id, route]: [string, InferenceHostRoute]) =>
    route.scopes.includes(scope) ? [{ ...route, id: id as keyof InferenceHostRoutes }] : [],
  );

export type InferenceTag = 'Inference' | 'Embeddings' | 'Tokens' | 'Messages' | 'Responses' | 'Models' | 'Key';

/** A route as the reference describes it. */
export type OperationFacts = Omit<Operation<InferenceTag>, 'operationId' | 'method' | 'path'>;
export type OperationsById = Partial<Record<keyof InferenceHostRoutes, OperationFacts>>;
