import { parseArgs } from 'node:util';
import { cases } from './cases.ts';
import { measure, type Server } from './measure.ts';
import { hasUnexplained, toText } from './report.ts';

const USAGE = `node test/contract/messages-differential/main.ts --vllm URL --sluice URL --key K

Sends the same requests to vLLM's own /v1/messages and to Sluice's before the same vLLM, and compares the replies.

  --model NAME        the model's name in Sluice (default sluice-tiny)
  --vllm-model NAME   its name in vLLM (default: the first that it lists)

Exits with 0 if all differences are explained, 2 if one is not, and 1 if a server can't be reached.
`;
const UNEXPLAINED = 2;

const listedModel = async (url: string): Promise<string> => {
  const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] };
  return data[0]?.id ?? '';
};

const main = async (): Promise<number> => {
  const string = { type: 'string' } as const;
  const options = { vllm: string, sluice: string, key: string, model: { ...string, default: 'sluice-tiny' }, 'vllm-model': string };
  const { vllm, sluice, key, model, 'vllm-model': vllmModel } = parseArgs({ options, strict: true }).values;
  if (!vllm || !sluice || !key) throw new Error(USAGE);
  const servers: { vllm: Server; sluice: Server } = {
    vllm: { url: vllm, model: vllmModel ?? (await listedModel(vllm)), isVllm: true },
    sluice: { url: sluice, model, key },
  };
  const findings = await measure(servers, cases);
  console.log(toText(findings));
  return hasUnexplained(findings) ? UNEXPLAINED : 0;
};

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
