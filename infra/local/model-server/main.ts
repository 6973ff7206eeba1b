import { flushCompileCache } from 'node:module';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { CORPUS_FOLDER, readCorpus, readCorpusTokens } from './model/corpus.ts';
import { createModel } from './model/language-model.ts';
import { loadTokenizer } from './model/tokenizer.ts';
import { createContainer } from './server.ts';
import { createVectorModel } from './vectors/vectors.ts';

const Flags = z.strictObject({
  host: z.string(),
  port: z.coerce.number().pipe(z.int().min(0).max(65_535)),
  model: z.string().min(1).optional(),
  'reasoning-model': z.string().min(1).optional(),
  'embedding-model': z.string().min(1).optional(),
  'rerank-model': z.string().min(1).optional(),
  'token-delay-ms': z.coerce.number().min(0),
  'first-token-delay-ms': z.coerce.number().min(0),
  'enable-lora': z.boolean(),
  window: z.coerce.number().pipe(z.int().min(1)),
});

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '0' },
    model: { type: 'string' },
    'reasoning-model': { type: 'string' },
    'embedding-model': { type: 'string' },
    'rerank-model': { type: 'string' },
    'token-delay-ms': { type: 'string', default: '20' },
    'first-token-delay-ms': { type: 'string', default: '0' },
    'enable-lora': { type: 'boolean', default: false },
    window: { type: 'string', default: '8192' },
  },
});
const flags = Flags.parse(values);

const tokenizer = loadTokenizer();
const server = createContainer({
  model: createModel(readCorpusTokens, tokenizer),
  vectors: createVectorModel(readCorpus(CORPUS_FOLDER)),
  tokenizer,
  modelName: flags.model,
  reasoningModelName: flags['reasoning-model'],
  embeddingModelName: flags['embedding-model'],
  rerankModelName: flags['rerank-model'],
  loadsAdapters: flags['enable-lora'],
  windowTokens: flags.window,
  tokenDelayMs: flags['token-delay-ms'],
  firstTokenDelayMs: flags['first-token-delay-ms'],
});

server.listen(flags.port, flags.host, () => {
  const address = server.address();
  const ready = { port: typeof address === 'object' ? address?.port : undefined };
  console.log(JSON.stringify(ready));
  process.send?.(ready);
  flushCompileCache();
});

// The container exits with the process that started it.
process.on('disconnect', () => process.exit());
process.on('SIGTERM', () => process.exit());
