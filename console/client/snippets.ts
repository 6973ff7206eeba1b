type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

interface ChatRequest {
  /** Ends in `/v1`. */
  baseUrl: string;
  body: Readonly<Record<string, Json>>;
  headers?: Readonly<Record<string, string>>;
}

const INDENT = '  ';

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

const jsonOf = (body: ChatRequest['body']): string => {
  const line = JSON.stringify(body);
  return line.length <= ONE_LINE ? line : JSON.stringify(body, null, INDENT);
};

const curlOf = ({ baseUrl, body, headers = {} }: ChatRequest): string =>
  [
    `curl ${body.stream === true ? '-N ' : ''}${shellOf(`${baseUrl}/chat/completions`)}`,
    '-H "authorization: Bearer $API_KEY"',
    ...Object.entries({ ...headers, 'content-type': 'application/json' }).map(([name, value]) => `-H ${shellOf(`${name}: ${value}`)}`),
    `-d ${shellOf(jsonOf(body))}`,
  ].join(` \\\n${INDENT}`);

const pythonCall = ({ baseUrl, body, headers }: ChatRequest): string => {
  const fields = Object.entries(body).map(([name, value]) => `    ${name}=${pythonOf(value)},`);
  return [
    'import os',
    'from openai import OpenAI',
    '',
    'client = OpenAI(',
    `    base_url=${JSON.stringify(baseUrl)},`,
    '    api_key=os.environ["API_KEY"],',
    ...(headers ? [`    default_headers=${pythonOf(headers)},`] : []),
    ')',
    'completion = client.chat.completions.create(',
    ...fields,
    ')',
    // The last chunk has the usage, and no choice.
    ...(body.stream === true
      ? ['for chunk in completion:', '    for choice in chunk.choices:', '        print(choice.delta.content or "", end="", flush=True)']
      : ['print(completion.choices[0].message.content)']),
  ].join('\n');
};

const javaScriptCall = ({ baseUrl, body, headers }: ChatRequest): string =>
  [
    "import OpenAI from 'openai';",
    '',
    'const client = new OpenAI({',
    `  baseURL: ${JSON.stringify(baseUrl)},`,
    '  apiKey: process.env.API_KEY,',
    ...(headers ? [`  defaultHeaders: ${indented(JSON.stringify(headers, null, INDENT), INDENT)},`] : []),
    '});',
    `const completion = await client.chat.completions.create(${JSON.stringify(body, null, INDENT)});`,
    ...(body.stream === true
      ? ["for await (const { choices } of completion) process.stdout.write(choices[0]?.delta.content ?? '');"]
      : ['console.log(completion.choices[0].message.content);']),
  ].join('\n');

/** A request for a chat completion in several languages. All read the key's secret from the variable `API_KEY`. */
export const snippetsOf = (chat: ChatRequest): readonly (readonly [language: string, code: string])[] => [
  ['curl', curlOf(chat)],
  ['Python', pythonCall(chat)],
  ['JavaScript', javaScriptCall(chat)],
];
