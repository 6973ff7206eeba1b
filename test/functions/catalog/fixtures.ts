import type { ApiEvent } from '../../../shared/http/api-event.ts';
import type { Model } from '../../../shared/models/model.ts';
import { Model as ModelSchema } from '../../../shared/models/model.ts';
import type { ModelReader } from '../../../shared/models/model-store.ts';

/** API Gateway's event for a request without a body that only matches the root's proxy resource. */
export const eventOf = (
  path: string,
  { method = 'GET', headers = {}, base = '' }: { method?: string; headers?: Record<string, string>; base?: string } = {},
): ApiEvent =>
  ({
    resource: path === '/' ? '/' : '/{proxy+}',
    pathParameters: path === '/' ? null : { proxy: path.slice(1) },
    httpMethod: method,
    path: `${base}${path}`,
    headers,
    body: null,
    requestId: 'req_1',
    receivedAtMs: 1_000,
  }) as unknown as ApiEvent;

/** A published model with one price, always in force; `fields` replaces fields. */
export const modelOf = (fields: Partial<Model> = {}): Model =>
  ModelSchema.parse({
    name: 'm',
    status: 'published',
    created: 7,
    context_length: 1_000,
    max_output_tokens: 100,
    default_output_tokens: 50,
    targets: [{ endpoint: 'e' }],
    prices: [{ version: 'p1', effective_at: 0, prompt_nanos: 50_000_000, completion_nanos: 200_000_000 }],
    ...fields,
  });

/** A store with these models. */
export const storeOf = (...models: Model[]): ModelReader => ({
  list: async () => new Map(models.map((model) => [model.name, model])),
});
