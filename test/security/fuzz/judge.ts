import { readDocument } from '../../support/clients/document-faults.ts';
import { CANARY, type FuzzedHosts } from './fixtures.ts';
import type { FuzzedRequest } from './requests.ts';
import type { FuzzedReply } from './send.ts';

// Replies that repeat parts of the request, with unknown properties as the caller sent them.
const ECHOES = ['Response', 'ResponseStreamEvent', 'InputItemList'];

// Texts that show how a host is built: stack traces, files, AWS's names, SDK and schema errors.
const INTERNALS = [
  /\bat (?:async )?[\w.<>]+ \(/,
  /node:internal|node_modules|\.(?:ts|mjs):\d/,
  // The folder of an organization's weights is what its owners upload to.
  /arn:aws|amazonaws\.com|(?<!s3:\/\/)sluice-data-|sluice-(?:serverless|ondemand|control)-/,
  /ConditionalCheckFailed|TransactionCanceled|ValidationException|ZodError|TypeError|RangeError|SyntaxError/,
];

// No document has the paths and methods of these errors.
const isErrorBody = (text: string): boolean => {
  const { error, request_id } = JSON.parse(text) as { error?: string | { message?: unknown; type?: unknown }; request_id?: unknown };
  const isError = typeof error === 'string' || (typeof error?.message === 'string' && typeof error.type === 'string');
  return isError && typeof request_id === 'string';
};

/** Judges the replies of a host: what is wrong with one, in words; nothing if it is as it must be. */
export const createJudge = async ({ baseUrl }: { baseUrl: string }, entitled: FuzzedHosts['entitled']) => {
  const document = await readDocument(await fetch(`${baseUrl}/openapi.json`), ECHOES);
  return async ({ method, path, caller }: FuzzedRequest, { status, headers, text }: FuzzedReply): Promise<string[]> => {
    const faults: string[] = [];
    if (status >= 500) faults.push(`status ${status}`);
    if (!headers['x-request-id']) faults.push('no x-request-id');
    if (!entitled.has(caller) && text.includes(CANARY)) faults.push("another organization's data");
    const [type = ''] = String(headers['content-type'] ?? '').split(';');
    if (status >= 400) {
      const leaked = INTERNALS.filter((pattern) => pattern.test(text));
      faults.push(...leaked.map((pattern) => `internals: ${pattern}`));
      if (method !== 'HEAD' && (type !== 'application/json' || !isErrorBody(text))) faults.push(`not an error: ${type}`);
    }
    const [plain = ''] = path.split('?');
    // The document itself has its own tests, and is long.
    if (plain === '/openapi.json') return faults;
    const seen = { method: method.toLowerCase(), path: plain, status, type, text: Promise.resolve(text) };
    const undocumented = await document.faults(seen).catch((error: unknown) => [String(error)]);
    return [...faults, ...undocumented.map((fault) => JSON.stringify(fault))];
  };
};
