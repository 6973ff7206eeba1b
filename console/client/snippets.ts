type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** The task of a model, which decides how it is called. */
export type Task = 'generate' | 'embed' | 'rerank';

interface ApiRequest {
  /** Default: a chat completion. */
  task?: Task;
  /** Ends in `/v1`. */
  baseUrl: string;
  body: Readonly<Record<string, Json>>;
  headers?: Readonly<Record<string, string>>;
}

const INDENT = '  ';
const PYTHON_INDENT = '    ';

const PATHS: Readonly<Record<Task, string>> = { generate: '/chat/completions', embed: '/embeddings', rerank: '/rerank' };

const indented = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`);

const pythonOf = (value: Json): string => {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`;
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([name, one]) => `${JSON.stringify(name)}: ${pythonOf(one)}`)
      .join(', ')}}`;
  return JSON.stringify(value);
};

// A quote inside single quotes ends them, is escaped, and begins them again.
const shellOf = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const ONE_LINE = 100;

const jsonOf = (body: ApiRequest['body']): string => {
  const line = JSON.stringify(body);
  return line.length <= ONE_LINE ? line : JSON.stringify(body, null, INDENT);
};

const curlOf = ({ task = 'generate', baseUrl, body, headers = {} }: ApiRequest): string =>
  [
    `curl ${body.stream === true ? '-N ' : ''}${shellOf(baseUrl + PATHS[task])}`,
    '-H "authorization: Bearer $API_KEY"',
    ...Object.entries({ ...headers, 'content-type': 'application/json' }).map(([name, value]) => `-H ${shellOf(`${name}: ${value}`)}`),
    `-d ${shellOf(jsonOf(body))}`,
  ].join(` \\\n${INDENT}`);

// How the OpenAI client of a language makes a call, and prints what came back.
type Call = (body: ApiRequest['body']) => readonly string[];

const argumentsOf = (body: ApiRequest['body']): string[] =>
  Object.entries(body).map(([name, value]) => `${PYTHON_INDENT}${name}=${pythonOf(value)},`);

const PYTHON_CALLS: Readonly<Record<Task, Call>> = {
  generate: (body) => [
    'completion = client.chat.completions.create(',
    ...argumentsOf(body),
    ')',
    // The last chunk has the usage, and no choice.
    ...(body.stream === true
      ? ['for chunk in completion:', '    for choice in chunk.choices:', '        print(choice.delta.content or "", end="", flush=True)']
      : ['print(completion.choices[0].message.content)']),
  ],
  embed: (body) => [
    'embeddings = client.embeddings.create(',
    ...argumentsOf(body),
    ')',
    'for entry in embeddings.data:',
    '    print(entry.index, len(entry.embedding), entry.embedding[:3])',
  ],
  // The client has no method for it, but sends any request.
  rerank: (body) => [
    'ranking = client.post(',
    `${PYTHON_INDENT}"${PATHS.rerank}",`,
    `${PYTHON_INDENT}cast_to=object,`,
    `${PYTHON_INDENT}body={`,
    ...Object.entries(body).map(([name, value]) => `${PYTHON_INDENT}${PYTHON_INDENT}${JSON.stringify(name)}: ${pythonOf(value)},`),
    `${PYTHON_INDENT}},`,
    ')',
    'for result in ranking["results"]:',
    '    print(result["index"], result["relevance_score"])',
  ],
};

const JAVASCRIPT_CALLS: Readonly<Record<Task, Call>> = {
  generate: (body) => [
    `const completion = await client.chat.completions.create(${JSON.stringify(body, null, INDENT)});`,
    ...(body.stream === true
      ? ["for await (const { choices } of completion) process.stdout.write(choices[0]?.delta.content ?? '');"]
      : ['console.log(completion.choices[0].message.content);']),
  ],
  embed: (body) => [
    `const embeddings = await client.embeddings.create(${JSON.stringify(body, null, INDENT)});`,
    'for (const { index, embedding } of embeddings.data) console.log(index, embedding.length, embedding.slice(0, 3));',
  ],
  rerank: (body) => [
    `const ranking = await client.post('${PATHS.rerank}', {`,
    `${INDENT}body: ${indented(JSON.stringify(body, null, INDENT), INDENT)},`,
    '});',
    'for (const { index, relevance_score } of ranking.results) console.log(index, relevance_score);',
  ],
};

const pythonCall = ({ task = 'generate', baseUrl, body, headers }: ApiRequest): string =>
  [
    'import os',
    'from openai import OpenAI',
    '',
    'client = OpenAI(',
    `    base_url=${JSON.stringify(baseUrl)},`,
    '    api_key=os.environ["API_KEY"],',
    ...(headers ? [`    default_headers=${pythonOf(headers)},`] : []),
    ')',
    ...PYTHON_CALLS[task](body),
  ].join('\n');

const javaScriptCall = ({ task = 'generate', baseUrl, body, headers }: ApiRequest): string =>
  [
    "import OpenAI from 'openai';",
    '',
    'const client = new OpenAI({',
    `  baseURL: ${JSON.stringify(baseUrl)},`,
    '  apiKey: process.env.API_KEY,',
    ...(headers ? [`  defaultHeaders: ${indented(JSON.stringify(headers, null, INDENT), INDENT)},`] : []),
    '});',
    ...JAVASCRIPT_CALLS[task](body),
  ].join('\n');

/** A request to a model in several languages. All read the key's secret from the variable `API_KEY`. */
export const snippetsOf = (request: ApiRequest): readonly (readonly [language: string, code: string])[] => [
  ['curl', curlOf(request)],
  ['Python', pythonCall(request)],
  ['JavaScript', javaScriptCall(request)],
];

const MAX_TOKENS = 64;
const TEXTS = ['A sluice holds water back.', 'A ferry crosses the river.'];

/** The body of a first request to a model. */
export const exampleBody = (task: Task, model: string): ApiRequest['body'] =>
  ({
    generate: { model, messages: [{ role: 'user', content: 'Say hello.' }], max_tokens: MAX_TOKENS },
    embed: { model, input: TEXTS },
    rerank: { model, query: 'What stops the water?', documents: TEXTS },
  })[task];
