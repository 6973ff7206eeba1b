import { MAX_LOGPROBS } from '../../../functions/inference/chat/logprobs-size.ts';
import { chatFields } from '../../../functions/inference/chat/request.ts';
import { type Row, rows, treatmentOf } from './measure.ts';
import { type Findings, summaryOf } from './report.ts';
import { accepted } from './values.ts';
import { textOf } from './verdict.ts';

const INTRODUCTION = `# The fields of a chat completion (generated)

How \`POST /v1/chat/completions\` handles each field, and what we measured when we sent the field to a model container. This page is generated:
\`npm run conformance -- --markdown docs/fields.md\` starts our own container, sends it requests with every field and records the results.

## How a field reaches the model

The \`dialect\` of a model selects the request format for its container. \`vllm\` is vLLM behind \`/invocations\` and compatible servers; \`sluice\`
is our own container, with a few more sampling and echo fields. \`llama_cpp\` is llama.cpp's server: token ids, a limit on thinking and vLLM's other
fields have no effect there, and its prompt cache is off, because it can't be divided between organizations. \`transformers\` is \`transformers serve\`, which
rejects fields that it doesn't know; it has no \`n\`, forced calls, JSON mode, log probabilities or
biases, and it can't isolate its prompt cache. In each dialect, a
field is handled in one of these ways:

- \`passed\`: sent to the container under its own name, with the same meaning.
- \`renamed\`: sent under the given name, in the container's format.
- \`ours\`: handled by Sluice, or combined with other fields into what the container receives.
- \`ignored\`: the container has no such feature. The field is accepted, has no effect, and is listed in the response header \`x-sluice-ignored\`.
- \`refused\`: a 400 if the field is switched on, because an answer without it would be wrong.

Any field but \`model\` and \`messages\` can be null, which is the same as leaving it out: null never reaches a container. Numbers in JSON Schemas and in
arguments of tool calls reach it as they were written: 1.0 stays 1.0, and 9007199254740993 keeps all its digits. A request for a feature that
the model's settings exclude (\`capabilities\`: tools, JSON objects, JSON Schemas, logprobs) returns 400; a limit on thinking that the model can't keep is ignored and listed
in \`x-sluice-ignored\`. Fields that are not on this page are accepted, dropped, and listed there too.

## Rules between fields

Each of these returns a 400 that names the field:

- \`stream_options\` without \`stream: true\`; \`top_logprobs\` without \`logprobs: true\`; \`n\` above 1 with a temperature of 0.
- \`thinking\` together with \`reasoning_effort\`; \`functions\` together with \`tools\`.
- \`tool_choice\` \`required\` or a named function without \`tools\`, or a name that is not in \`tools\`. \`tools: []\` is the same as no tools; \`{"type": "function", "function": null}\` is \`required\`.
- \`min_tokens\` above \`max_tokens\`. If both \`max_tokens\` and \`max_completion_tokens\` are set, the latter counts.
- A token id in \`logit_bias\`, \`stop_token_ids\` or \`allowed_token_ids\` that is not in the model's vocabulary. The latter two are ignored if the vocabulary is unknown (a model without a tokenizer).
- More than ${MAX_LOGPROBS.toLocaleString('en')} log probabilities (\`n\` × \`max_tokens\` × (\`top_logprobs\` + 1)) in a response without streaming.
- A \`tool\` message that doesn't follow an assistant message with tool calls, or doesn't name one of its calls.

If \`tool_choice\` or \`function_call\` forces a call, its tool is sent with \`strict: true\`, whatever the request says, because some runtimes hold the arguments to
the schema only then. A schema that the runtime doesn't support returns 400.

The schema of a \`response_format\` \`json_schema\` is checked before it is sent; a 400 with the code \`invalid_json_schema\` names the place. It describes an object, and has at most
64 KiB, 32 levels (references included) and 5,000 properties. Its references lead to places in the schema (\`#/$defs/name\`), and never back to a schema that
contains them. In the dialects \`vllm\` and \`sluice\`, it can't have what the grammar of vLLM doesn't express: \`multipleOf\`, \`uniqueItems\`, \`contains\`, \`minContains\`,
\`maxContains\`, \`not\`, \`if\`, \`then\`, \`else\`, \`dependentSchemas\`, \`dependentRequired\`; a \`format\` of a string other than email, date, time, date-time, duration, ipv4, ipv6, hostname,
uuid, uri, uri-reference, uri-template, json-pointer and relative-json-pointer; \`minLength\` or \`maxLength\` beside \`pattern\` or \`format\`; \`propertyNames\` beside \`properties\`,
\`patternProperties\`, a schema in \`additionalProperties\` or \`unevaluatedProperties\`; several \`patternProperties\`, or one beside \`properties\`. The answer can end in the middle of the JSON
with \`finish_reason\` \`length\`.

\`prompt_truncate_len\` evicts the oldest messages first. System messages, the last user message and the newest message are kept; if the newest message is
a tool result, its call is kept too. \`perf_metrics_in_response\` adds \`perf_metrics\` to the response, or to the last finish chunk of a stream:
\`time_to_first_token_ms\` (from arrival to the first text), \`tokens_per_second\` (of all choices together, after the first token), \`gateway_time_ms\` (from
arrival until the request is sent to the model), \`queue_time_ms\` (until the container starts on the request), and the container's own measurements, if it reports any.

## Test your own container

\`\`\`sh
npm run conformance -- --container http://host:8000
\`\`\`

tests a running vLLM, llama.cpp or any other server for chat completions, at \`/invocations\` or else at \`/v1/chat/completions\`, and prints the same
results. It sends about a hundred short requests, one after the other, each as Sluice would send it. Useful options are \`--model NAME\` (llama.cpp and Ollama may
need it), \`--dialect sluice\`, \`--timeout-ms N\` and \`--markdown FILE\`. The exit code is 0 if nothing fails, 2 if something does or every request is rejected, and 1 if the
container could not be reached.

The results below were measured on our own small container, with requests in the format of each dialect; the column \`vllm\` shows what is sent to vLLM, not
how a particular vLLM handles it. The dialect \`vllm\` was measured with vLLM 0.20.2, 0.27.1 and 0.32.0.

- \`works\`: we saw the effect. \`max_tokens: 5\` ended after 5 tokens; \`top_k: 1\` gave the most likely answer at any temperature.
- \`accepted\`: the container accepted the field, but its effect can't be proven from outside, or not with this model.
- \`fails\`: the container accepted the field, but did something else.
- \`not shown\`: the answer was one in which the field can have no visible effect, such as a penalty on repetition where nothing is repeated.
- \`refused by the container\`: a 400, with the container's message. At \`/invocations\`, vLLM doesn't give the reason for a body of a wrong form
  ("Cannot find suitable handler for request", or "Either prompt or prompt_embeds must be provided"); \`--path /v1/chat/completions\` makes it report one.
- \`done by Sluice\`, \`ignored\`, \`400\`: no request was sent to the container.
`;

/** The page docs/fields.md for the findings of our own container. Ends with a newline. */
export const toDocument = (all: readonly Findings[]): string =>
  `${INTRODUCTION}
## The documented fields

${tableOf(isDocumented, all)}

## Other fields

vLLM's own fields, which many clients send.

${tableOf((row) => !isDocumented(row), all)}
`;

/** The tables alone, for a container other than our own. Ends with a newline. */
export const toTables = (all: readonly Findings[]): string => `${tableOf(() => true, all)}\n\n${all.map(summaryOf).join('\n')}\n`;

const documented = new Set<string>(chatFields);
const isDocumented = ({ field }: Row): boolean => documented.has(field);

const tableOf = (isShown: (row: Row) => boolean, all: readonly Findings[]): string => {
  const head = ['Field', 'Accepted values', ...all.flatMap(({ dialect }) => [`\`${dialect}\``, 'measured'])];
  const lines = rows.flatMap((row, index) => (isShown(row) ? [cellsOf(row, index, all)] : []));
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
};

// The first row of a field shows its values and treatment.
const cellsOf = ({ field, label }: Row, index: number, all: readonly Findings[]): string[] => {
  const isFirst = rows[index - 1]?.field !== field;
  const variant = label.slice(field.length);
  const measured = all.flatMap(({ dialect, verdicts }) => {
    const { how, to } = treatmentOf(field, dialect);
    const verdict = verdicts[index];
    return [isFirst ? `${how}${to ? ` to \`${to}\`` : ''}` : '', verdict ? textOf(verdict) : ''];
  });
  return [`\`${field}\`${variant}`, isFirst ? accepted[field].text : '', ...measured].map(inCell);
};

const inCell = (text: string): string => text.replaceAll('|', '\\|');
