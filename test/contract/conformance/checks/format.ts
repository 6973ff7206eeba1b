import type { Body } from '../ask.ts';
import { type Check, QUESTION, reply } from '../check.ts';
import type { Facts } from '../facts.ts';
import type { Reply } from '../reply.ts';
import { accepted, fails, notShown, type Verdict, works } from '../verdict.ts';

/** The text is a JSON object and nothing else. */
export const isObject = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
};

// Enough tokens for a model that thinks before it answers.
const JSON_REQUEST: Body = {
  messages: [{ role: 'user', content: 'Describe one river by its name and its length, as an object.' }],
  max_tokens: 1_024,
};

const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, km: { type: 'integer' } },
  required: ['name', 'km'],
  additionalProperties: false,
};

const isJson = (replies: readonly Reply[]): Verdict => {
  const { content, finishReason } = reply(replies, 0);
  if (isObject(content)) return works;
  return finishReason === 'length' ? notShown('the JSON object was cut off') : fails('the answer is not a JSON object');
};

const holdsSchema = (replies: readonly Reply[]): Verdict => {
  const verdict = isJson(replies);
  if (verdict !== works) return verdict;
  const value = JSON.parse(reply(replies, 0).content) as Record<string, unknown>;
  return Object.keys(value).length === 2 && typeof value.name === 'string' && Number.isInteger(value.km)
    ? works
    : fails("the object doesn't match the schema");
};

const streams = (replies: readonly Reply[]): Verdict => (reply(replies, 0).chunks > 1 ? works : accepted);

const isUnchanged = (replies: readonly Reply[], { greedy }: Facts): Verdict => (reply(replies, 0).text === greedy ? works : accepted);

// The greedy answer, after a text of any form.
const isEchoed = (echo: string, { text }: Reply, { greedy }: Facts): Verdict => {
  if (!text.endsWith(greedy) || text.length === greedy.length) return fails('the answer has no echo before it');
  return text.includes(echo) ? works : fails('the text before the answer is not the prompt');
};

/** Checks of the format of an answer. */
export const formatChecks: readonly Check[] = [
  { field: 'stream', bodies: () => [{ stream: true }], judge: streams },
  {
    field: 'stream_options',
    bodies: () => [{ stream: true, stream_options: { include_usage: true } }],
    judge: (replies) => (reply(replies, 0).hasUsage ? works : fails('the stream contains no usage')),
  },
  { field: 'response_format', variant: 'text', bodies: () => [{ response_format: { type: 'text' } }], judge: isUnchanged },
  {
    field: 'response_format',
    variant: 'json_object',
    bodies: () => [{ ...JSON_REQUEST, response_format: { type: 'json_object' } }],
    judge: isJson,
  },
  {
    field: 'response_format',
    variant: 'json_schema (`capabilities.structured_outputs`)',
    bodies: () => [{ ...JSON_REQUEST, response_format: { type: 'json_schema', json_schema: { name: 'river', schema } } }],
    judge: holdsSchema,
  },
  { field: 'echo', bodies: () => [{ echo: true }], judge: (replies, facts) => isEchoed(QUESTION, reply(replies, 0), facts) },
  {
    field: 'echo_last',
    bodies: () => [{ echo_last: 8 }],
    judge: (replies, facts) => {
      const last = reply(replies, 0);
      return last.text.includes(QUESTION) ? fails('the whole prompt is echoed') : isEchoed('', last, facts);
    },
  },
];
