import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { startTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { shareInSuite } from '../../support/clients/suite-run.ts';

/** Its name has characters that a URL escapes. */
export const ESCAPED = 'acme/llama 3:8b%';
/** They have no endpoint; the second one has a fallback. */
export const GONE = 'gone';
export const GONE_WITH_FALLBACK = 'gone-with-fallback';
export const WITHOUT_STRUCTURED_OUTPUTS = 'sluice-tiny-without';

const DEMO_NAMES = ['sluice-tiny', 'sluice-tiny-embed', 'sluice-tiny-reasoning', 'sluice-tiny-rerank'];
/** By name, without the model whose first price comes later. */
export const ALWAYS_PUBLISHED = [ESCAPED, GONE, GONE_WITH_FALLBACK, ...DEMO_NAMES, WITHOUT_STRUCTURED_OUTPUTS];

// All at once, before any function has read the models.
const publish = async ({ models, model: name }: TestRun): Promise<void> => {
  const tiny = await models.get(SERVERLESS_POOL, name);
  if (!tiny) throw new Error('The local run has no model.');
  const targets: typeof tiny.targets = [{ endpoint: 'deleted', weight: 1 }];
  await models.put(SERVERLESS_POOL, { ...tiny, name: GONE, targets });
  await models.put(SERVERLESS_POOL, { ...tiny, name: GONE_WITH_FALLBACK, targets, fallbacks: [name] });
  const capabilities = { ...tiny.capabilities, structured_outputs: false };
  await models.put(SERVERLESS_POOL, { ...tiny, name: WITHOUT_STRUCTURED_OUTPUTS, capabilities });
  const priced = { version: 'p', prompt_nanos: 50_000_000, completion_nanos: 123_456_789 };
  const sizes = { created: 1_790_000_000, context_length: 4_096, max_output_tokens: 1_024, default_output_tokens: 256 };
  const put = (called: string, effective_at: number, status: 'published' | 'unpublished' = 'published') =>
    models.put(SERVERLESS_POOL, { ...sizes, name: called, status, targets: [{ endpoint: name }], prices: [{ ...priced, effective_at }] });
  await Promise.all([put(ESCAPED, 0), put('soon', Date.now() + 3_600_000), put('hidden', 0, 'unpublished')]);
};

const start = async () => {
  const run = await startTestRun();
  // The role allows nothing of an endpoint that does not exist.
  run.expectDenial('sagemaker:InvokeEndpoint');
  await publish(run);
  return run;
};

/** A local run with more models than the demo's, for all parts of the suite. */
export const publishedModels = shareInSuite(start, (run) => run.close());
