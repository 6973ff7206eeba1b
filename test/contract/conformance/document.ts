import { MAX_LOGPROBS } from '../../../functions/inference/chat/logprobs-size.ts';
import { chatFields } from '../../../functions/inference/chat/request.ts';
import { type Row, rows, treatmentOf } from './measure.ts';
import { type Findings, summaryOf } from './report.ts';
import { accepted } from './values.ts';
import { textOf } from './verdict.ts';

const INTRODUCTION = `# The fields of a chat completion

What \`POST /v1/chat/completions\` makes of each property of its body, and what was measured when a model container got it. This page is
generated: \`npm run conformance -- --markdown docs/fields.md\` starts our own container, asks it about every field, and writes what it saw.

## How a field reaches the model

The \`dialect\` of a model names the words in which its container is asked. \`vllm\` is vLLM behind \`/invocations\`, and what else speaks as
it does. \`sluice\` is our own container: the same words, and a few samplers and echoes more. For each field a dialect says one of these:

- \`passed\`: sent to the container under its own name, with the same meaning.
- \`renamed\`: sent in the container's words, under the name that is given.
- \`ours\`: Sluice does it itself, or puts it together with others into what the container is sent.
- \`ignored\`: the container has nothing like it. It is accepted, has no effect, and is named in the reply header \`x-sluice-ignored\`.
- \`refused\`: a 400 when it is switched on, because an answer without it would be a wrong one.

Any field but \`model\` and \`messages\` may be null, which is the same as leaving it out: null never reaches a container. What a model's row says
that it cannot do (\`capabilities\`: tools, JSON objects, logprobs) is a 400; a bound on thinking that it cannot keep is ignored and named. Properties that
are not listed here are accepted, dropped, and named in \`x-sluice-ignored\`.

## Rules between fields

Each of these is a 400 that names the field:

- \`stream_options\` without \`stream: true\`; \`top_logprobs\` without \`logprobs: true\`; \`n\` above 1 with a temperature of 0.
- \`thinking\` together with \`reasoning_effort\`; \`functions\` together with \`tools\`.
- \`tool_choice\` \`required\` or a named function without \`tools\`, or a name that is none of them. \`tools: []\` is the same as no tools; \`{"type": "function", "function": null}\` is \`required\`.
- \`min_tokens\` above \`max_tokens\`. Of \`max_tokens\` and \`max_completion_tokens\` the latter counts.
- A token id in \`logit_bias\`, \`stop_token_ids\` or \`allowed_token_ids\` that the model's vocabulary does not have. The latter two are ignored where the vocabulary is not known (a model without a tokenizer).
- More than ${MAX_LOGPROBS.toLocaleString('en')} log probabilities (\`n\` × \`max_tokens\` × (\`top_logprobs\` + 1)) in a reply of one piece.
- A \`tool\` message that follows no assistant message with calls, or names none of its calls.

\`prompt_truncate_len\` evicts the oldest messages first. System messages, the last user message and the newest message stay, the latter with the call that it
answers. \`perf_metrics_in_response\` adds \`perf_metrics\` to the reply, or to the last finish chunk of a stream: \`time_to_first_token_ms\` (from arrival to the first text),
\`tokens_per_second\` (of all choices together, after the first token), \`gateway_time_ms\` (from arrival until the model is asked), \`queue_time_ms\` (until its container takes the request), and
what the container measured itself, if it tells.

## Ask your own container

\`\`\`sh
npm run conformance -- --container http://host:8000
\`\`\`

asks a running vLLM, llama.cpp or anything else that takes chat completions, at \`/invocations\` or else at \`/v1/chat/completions\`, and prints the same
findings. It sends about a hundred short requests, one after the other, each as Sluice would have sent it. Worth knowing are \`--model NAME\` (llama.cpp and Ollama may
need it), \`--dialect sluice\`, \`--timeout-ms N\`, \`--markdown FILE\`. It exits with 0 when nothing fails, with 2 when something does, with 1 when the
container could not be asked.

What was measured below was measured on our own small container, asked in the words of each dialect; the column \`vllm\` says what is sent to vLLM, not what a
certain vLLM makes of it.

- \`works\`: the effect was seen. \`max_tokens: 5\` ended after 5 tokens; \`top_k: 1\` gave the likeliest answer at any temperature.
- \`accepted\`: the container took it, and the effect cannot be proven from outside, or not with this model.
- \`fails\`: the container took it, and did something else.
- \`refused by the container\`: a 400, with the container's words. At \`/invocations\` vLLM keeps its reasons to itself ("Cannot find suitable handler for
  request"); \`--path /v1/chat/completions\` makes it tell them.
- \`done by Sluice\`, \`ignored\`, \`400\`: there was nothing to ask the container.
`;

/** The page docs/fields.md for the findings of our own container. Ends with a newline. */
export const toDocument = (all: readonly Findings[]): string =>
  `${INTRODUCTION}
## The documented fields

${tableOf(isDocumented, all)}

## Beyond them

vLLM's own, which many clients send.

${tableOf((row) => !isDocumented(row), all)}
`;

/** The tables alone, for a container that is not ours. Ends with a newline. */
export const toTables = (all: readonly Findings[]): string => `${tableOf(() => true, all)}\n\n${all.map(summaryOf).join('\n')}\n`;

const documented = new Set<string>(chatFields);
const isDocumented = ({ field }: Row): boolean => documented.has(field);

const tableOf = (isShown: (row: Row) => boolean, all: readonly Findings[]): string => {
  const head = ['Field', 'Accepted values', ...all.flatMap(({ dialect }) => [`\`${dialect}\``, 'measured'])];
  const lines = rows.flatMap((row, index) => (isShown(row) ? [cellsOf(row, index, all)] : []));
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
};

/** A field's values and treatment stand in its first row. */
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
