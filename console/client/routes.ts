import type { consoleConfigurationRoute } from '../../functions/console/routes.ts';
import type { controlRoutes } from '../../functions/control/routes.ts';
import type { browserSignInRoutes } from '../../functions/sign-in/browser-routes.ts';
import type { signInRoutes } from '../../functions/sign-in/routes.ts';
import type { browserSingleSignOnRoutes } from '../../functions/single-sign-on/browser-routes.ts';
import type { singleSignOnRoutes } from '../../functions/single-sign-on/routes.ts';

type AnyRoute =
  | { readonly facts?: typeof consoleConfigurationRoute }
  | (typeof controlRoutes)[number]
  | (typeof browserSignInRoutes)[number]
  | (typeof signInRoutes)[number]
  | (typeof singleSignOnRoutes)[number]
  | (typeof browserSingleSignOnRoutes)[number];

type FactsOf<Route> = Route extends { readonly facts?: infer Facts } ? NonNullable<Facts> : never;

type AnyFacts = FactsOf<AnyRoute>;

type Schema = { readonly _zod: { readonly input: unknown; readonly output: unknown } };
type InputOf<S> = S extends Schema ? S['_zod']['input'] : never;
type OutputOf<S> = S extends Schema ? S['_zod']['output'] : never;

/** A method and a path with its parameters, such as `GET /v1/api-keys/{id}`. */
export type RouteName = AnyFacts extends infer Facts
  ? Facts extends { method: infer M extends string; path: infer P extends string }
    ? `${M} ${P}`
    : never
  : never;

type FactsNamed<Name extends RouteName> = Name extends `${infer M} ${infer P}` ? Extract<AnyFacts, { method: M; path: P }> : never;

type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${infer Plain}+` ? Plain : Name) | ParameterOf<Rest>
  : never;

type PathOf<Name extends RouteName> = Name extends `${string} ${infer P}` ? P : never;

/** The query parameters that a route takes; undefined if it takes none. */
export type Query<Name extends RouteName> = FactsNamed<Name> extends { query: infer Q } ? InputOf<Q> : undefined;
/** The body of a request; undefined if there is none. */
export type RequestBody<Name extends RouteName> = FactsNamed<Name> extends { body: { schema: infer S } } ? InputOf<S> : undefined;
/** The JSON of a reply; undefined if there is none. */
export type ReplyBody<Name extends RouteName> = FactsNamed<Name> extends { reply: { json: { schema: infer S } } } ? OutputOf<S> : undefined;
/** The JSON of the reply to a request that only asks what would change; undefined if the route has none. */
export type TrialBody<Name extends RouteName> =
  FactsNamed<Name> extends { trialReply: { json: { schema: infer S } } } ? OutputOf<S> : undefined;
/** The parameters of a route's path; undefined if it has none. */
export type PathParameters<Name extends RouteName> = [ParameterOf<PathOf<Name>>] extends [never]
  ? undefined
  : { readonly [P in ParameterOf<PathOf<Name>>]: string };

type Needed<Name extends string, Value> = [Value] extends [undefined] ? { [N in Name]?: undefined } : { [N in Name]: Value };
type QueryArgument<Value> = [Value] extends [undefined] ? { query?: undefined } : { query?: Value };

/** The parts of a request to a route. */
export type CallOptions<Name extends RouteName> = Needed<'parameters', PathParameters<Name>> &
  Needed<'body', RequestBody<Name>> &
  QueryArgument<Query<Name>> & {
    /** The version that the form was opened with: the change is refused with 412 if there is a newer one. */
    version?: number | undefined;
    /** Equal for the repetitions of one intended change. */
    idempotencyKey?: string;
    /** True: the request is sent even if the page closes meanwhile. */
    keepalive?: boolean;
    signal?: AbortSignal;
  };
