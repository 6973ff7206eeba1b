import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { S3Client } from '@aws-sdk/client-s3';
import { uploadTokenizer } from '../../../infra/tools/admin/tokenizer-files.ts';
import type { NewModel, TokenizerFiles } from '../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { shareInSuite } from '../../support/clients/suite-run.ts';
import { startWalk, type Walk } from '../../support/clients/walk-through.ts';
import { type ScriptedContainer, startScriptedContainer } from '../../support/emulators/scripted-container.ts';

const MODEL_FILES = path.join(import.meta.dirname, '../../../infra/local/model-server/model');

/** A model that is too small for the first request of a coding agent, with a tokenizer that counts it. */
export const SMALL = 'small';
/** A model whose name Codex knows. */
export const KNOWN_TO_CODEX = 'gpt-6-sol';
/** A model with prices of its own, in nano-dollars for a token. */
export const PRICED = 'priced';
export const PROMPT_NANOS = 1_000;
export const CACHED_NANOS = 250;
export const COMPLETION_NANOS = 4_000;
const MILLION = 1_000_000;

interface Scripted {
  container: ScriptedContainer;
  walk: Walk;
}

const uploadOwnTokenizer = async (run: TestRun): Promise<TokenizerFiles> => {
  const [tokenizer = '', chatTemplate = ''] = await Promise.all(
    ['tokenizer.json', 'chat_template.jinja'].map((file) => readFile(path.join(MODEL_FILES, file), 'utf8')),
  );
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new S3Client({ endpoint: run.s3_endpoint, region: 'us-east-1', credentials, forcePathStyle: true });
  try {
    return await uploadTokenizer(client, run.buckets.Tokenizers as string, { tokenizer, chatTemplate });
  } finally {
    client.destroy();
  }
};

// All at once, before any function has read the models.
const publishModels = async (run: TestRun): Promise<void> => {
  const known = await run.models.get(SERVERLESS_POOL, run.model);
  if (!known) throw new Error('The local run has no model.');
  const model = { ...known, context_length: 200_000, max_output_tokens: 32_768, default_output_tokens: 16_384 };
  const sizes = { context_length: 4_000, max_output_tokens: 1_000, default_output_tokens: 100 };
  const price = {
    prompt_nanos: PROMPT_NANOS * MILLION,
    cached_prompt_nanos: CACHED_NANOS * MILLION,
    completion_nanos: COMPLETION_NANOS * MILLION,
  };
  const models: NewModel[] = [
    model,
    { ...model, name: KNOWN_TO_CODEX },
    { ...model, ...sizes, name: SMALL, tokenizer: await uploadOwnTokenizer(run) },
    { ...model, name: PRICED, prices: model.prices.map((old) => ({ ...old, ...price })) },
  ];
  for (const each of models) await run.models.put(SERVERLESS_POOL, each);
};

const start = async (): Promise<Scripted> => {
  const container = await startScriptedContainer();
  const walk = await startWalk('--container', container.url);
  await publishModels(walk.run);
  return { container, walk };
};

/** A local run whose only server of models answers as the tests say, for all parts of the suite. */
export const scripted = shareInSuite(start, async ({ container, walk }) => {
  await walk.close();
  await container.close();
});
