import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { interpret } from '../../infra/assembly/interpret.ts';
import { readAssembly } from '../../infra/assembly/read-assembly.ts';
import { LOCAL_MODEL } from '../../infra/local/container.ts';
import { CORPUS_FOLDER, readCorpus } from '../../infra/local/model-server/model/corpus.ts';
import { SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { cpuMs } from './lib/processes.ts';
import { median } from './lib/statistics.ts';
import type { Findings } from './report.ts';
import type { Stack } from './stack.ts';

const PROMPT_TOKENS = 100_000;
const MESSAGES = 200;
const KEPT_TOKENS = 8_000;
const ROUNDS = 9;

const corpus = readCorpus(CORPUS_FOLDER).join('\n\n').split(' ');

// Prose in which one word in ten occurs only once.
const wordsOf = (count: number, from: number): string =>
  Array.from({ length: count }, (_, i) =>
    i % 10 === 0 ? ((from + 1) * 7_919 + i * 104_729).toString(36) : corpus[(from * 31 + i) % corpus.length],
  ).join(' ');

const conversation = (words: number, round: number): object[] =>
  Array.from({ length: MESSAGES + 1 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: wordsOf(Math.ceil(words / MESSAGES), i * 13 + round),
  }));

/**
 * Measures the CPU time of the warm function `tokenizer`: counting a prompt of 100,000 tokens in 200 messages, and
 * truncating it to 8,000.
 */
export const measureTokenizer = async ({ run }: Stack, assemblyDir: string): Promise<Findings> => {
  const { functions } = interpret(await readAssembly(assemblyDir));
  const name = functions.find(({ shortName }) => shortName === 'tokenizer')?.name;
  const files = (await run.models.list(SERVERLESS_POOL)).get(LOCAL_MODEL)?.tokenizer;
  const [pid = 0] = run.pids.functions.tokenizer ?? [];
  const lambda = new LambdaClient({
    endpoint: run.lambda_endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
  });
  const askToFit = async (messages: object[], max_prompt_tokens: number | null): Promise<{ prompt_tokens: number; ms: number }> => {
    const startMs = cpuMs(pid);
    const Payload = JSON.stringify({ operation: 'fit', files, prompt: { messages }, max_prompt_tokens });
    const { Payload: answer, FunctionError } = await lambda.send(new InvokeCommand({ FunctionName: name, Payload }));
    if (FunctionError) throw new Error(`The tokenizer failed: ${answer?.transformToString()}`);
    return { ...(JSON.parse(answer?.transformToString() ?? '{}') as { prompt_tokens: number }), ms: cpuMs(pid) - startMs };
  };
  const sample = await askToFit(conversation(10_000, 0), null);
  const words = Math.ceil((10_000 * PROMPT_TOKENS) / sample.prompt_tokens);
  const counting = [];
  const truncating = [];
  let tokens = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const messages = conversation(words, round);
    truncating.push((await askToFit(messages, KEPT_TOKENS)).ms);
    const counted = await askToFit(messages, null);
    counting.push(counted.ms);
    tokens = counted.prompt_tokens;
  }
  lambda.destroy();
  return {
    rows: [
      { figure: 'tokenizer CPU ms, truncating 100 k tokens', digits: 0, sluice: median(truncating), target: 250 },
      { figure: 'tokenizer CPU ms, counting 100 k tokens', digits: 0, sluice: median(counting), target: 250 },
    ],
    notes: [
      `\nThe tokenizer, warm: ${tokens} tokens of the small vocabulary in ${MESSAGES + 1} messages, truncated to ${KEPT_TOKENS}; medians of ${ROUNDS}.`,
    ],
  };
};
