import { LOCAL_MODEL } from '../../infra/local/container.ts';
import { inferenceHostRoutes } from '../../shared/hosts/inference-routes.ts';

export interface Tokens {
  prompt: number;
  completion: number;
}

/** The model's own reply to a question. */
export interface Expected {
  text: string;
  tokens: Tokens;
}

/** The routes that a load calls. */
export const routes = {
  chat: inferenceHostRoutes.createChatCompletion,
  completions: inferenceHostRoutes.createCompletion,
  responses: inferenceHostRoutes.createResponse,
  tokenize: inferenceHostRoutes.tokenize,
  models: inferenceHostRoutes.listModels,
} as const;
export type RouteName = keyof typeof routes;

/**
 * A request that a caller can send, with a reply that no other question has, if its route invokes the model with a
 * seed.
 */
export interface Question {
  route: RouteName;
  isStream: boolean;
  seed: number;
  maxTokens: number;
  expected: Expected;
}

/** A route and how it is called: of 20 questions, 15 are streams. */
export const MIX: readonly (readonly [RouteName, boolean])[] = [
  ...Array.from({ length: 10 }, () => ['chat', true] as const),
  ['chat', false],
  ['chat', false],
  ['completions', true],
  ['completions', true],
  ['completions', true],
  ['completions', false],
  ['responses', true],
  ['responses', true],
  ['tokenize', false],
  ['models', false],
];

export const invokesModel = (route: RouteName): boolean => route !== 'tokenize' && route !== 'models';

/** A request of the route has an event. That of a request to the tokenizer has no tokens. */
export const hasEvent = (route: RouteName): boolean => route !== 'models';

const promptOf = (seed: number): string => `Tell me about river ${seed}, and about harbour ${seed % 7}.`;
const messagesOf = (seed: number): object[] => [{ role: 'user', content: promptOf(seed) }];
const streaming = (isStream: boolean): object => (isStream ? { stream: true, stream_options: { include_usage: true } } : {});

type Asked = Omit<Question, 'expected'>;

/** The host may store the reply, and so give it again to a request with the same idempotency key. */
export const isStored = ({ route, seed }: Pick<Question, 'route' | 'seed'>): boolean => route !== 'responses' || seed % 2 === 0;

/**
 * The body that the model's container takes for the question. A response is a chat without a seed, so it is sampled
 * greedily.
 */
export const bareBody = ({ route, isStream, seed, maxTokens }: Asked): string => {
  if (route === 'tokenize') return JSON.stringify({ model: LOCAL_MODEL, prompt: promptOf(seed) });
  const common = { model: LOCAL_MODEL, max_tokens: maxTokens, ...streaming(isStream) };
  if (route === 'completions') return JSON.stringify({ ...common, prompt: promptOf(seed), temperature: 1, seed });
  const sampling = route === 'chat' ? { temperature: 1, seed } : { temperature: 0 };
  return JSON.stringify({ ...common, messages: messagesOf(seed), ...sampling });
};

/** The body that a caller sends. @param nonce unique; the event of the request has it in its metadata */
export const bodyOf = ({ route, isStream, seed, maxTokens }: Asked, nonce: string): string | undefined => {
  if (route === 'models') return undefined;
  if (route === 'tokenize') return bareBody({ route, isStream, seed, maxTokens });
  const metadata = { nonce };
  if (route !== 'responses') return JSON.stringify({ ...JSON.parse(bareBody({ route, isStream, seed, maxTokens })), metadata });
  const sampling = { max_output_tokens: maxTokens, temperature: 0 };
  return JSON.stringify({
    model: LOCAL_MODEL,
    input: promptOf(seed),
    ...sampling,
    stream: isStream,
    store: isStored({ route, seed }),
    metadata,
  });
};
