import path from 'node:path';
import { gatewayTexts } from '../../../infra/constructs/hosts/gateway-texts.ts';
import { type ErrorText, errorTexts } from './scan.ts';
import { root } from './sources.ts';
import { partsOf, shapeOf } from './wording.ts';

export const PAGE = path.join(root, 'docs/errors.md');

const INTRODUCTION = `# Errors

This page lists every error code of every host with its status, what is wrong and what to do. An error's body has \`code\`, \`message\` (which says both, with the values of
the request) and \`request_id\`; [api.md](api.md#errors) describes it. Act on the status and the code, because messages can change. A value that depends on the
request is in braces. An error that belongs to several sections is listed once. Errors with the code \`null\` are about one field, parameter or header, which \`param\` names.

This page is generated from the sources: \`WRITE_ERRORS=1 npx jest test/contract/errors\` writes it.
`;

const CONTROL_PLANE = 'Control plane: every resource';

// The first folder that matches an error's file counts.
const SECTIONS: readonly (readonly [string, readonly string[]])[] = [
  [
    'Inference hosts',
    [
      'functions/inference',
      'functions/catalog',
      'shared/admission',
      'shared/models',
      'shared/upstream',
      'shared/tokens',
      'shared/responses',
    ],
  ],
  [
    'Control plane: logging in, users and access',
    [
      'functions/sign-in',
      'functions/machine-sign-in',
      'shared/identity',
      'shared/service-accounts',
      'functions/control/access',
      'functions/control/service-accounts',
      'functions/control/sessions',
      'functions/control/users',
      'functions/control/scim',
      'functions/control/federation-rules',
      'functions/control/identity',
      'functions/control/identity-providers',
      'functions/single-sign-on',
      'shared/federation',
      'shared/single-sign-on',
    ],
  ],
  [
    'Control plane: organizations and API keys',
    ['functions/control/organizations', 'functions/control/api-keys', 'functions/control/projects', 'shared/credit'],
  ],
  [
    'Control plane: models and prices',
    ['functions/control/model-registry', 'functions/control/model-aliases', 'functions/control/prices', 'functions/control/service-levels'],
  ],
  [
    'Control plane: deployments',
    [
      'functions/control/deployments',
      'functions/control/adapters',
      'functions/control/instance-types',
      'functions/control/runtimes',
      'shared/deployments',
      'shared/gpu-time',
    ],
  ],
  [
    'Control plane: usage and observability',
    [
      'functions/control/usage',
      'functions/control/query',
      'functions/control/observability',
      'functions/control/economics',
      'functions/control/lookup',
    ],
  ],
  ['Control plane: billing', ['functions/control/billing', 'functions/billing', 'shared/billing']],
  ['Control plane: webhooks', ['functions/control/webhooks', 'shared/notifications']],
  ['Control plane: tickets', ['functions/control/tickets', 'shared/tickets']],
  [CONTROL_PLANE, []],
  ['Every host', ['shared', 'functions', 'infra']],
];

const OTHER_SECTIONS: Readonly<Record<string, string>> = {
  model_exists: 'Control plane: models and prices',
  version_conflict: CONTROL_PLANE,
};

/** The heading under which the page lists an error. */
export const sectionOf = ({ code, file }: ErrorText): string =>
  OTHER_SECTIONS[code ?? ''] ??
  SECTIONS.find(([, folders]) => folders.some((folder) => file.startsWith(`${folder}/`)))?.[0] ??
  'Every host';

const gatewayErrors: readonly ErrorText[] = gatewayTexts.map(({ status, error: { message, code } }) => ({
  status,
  code,
  message,
  file: 'infra/constructs/hosts/gateway-texts.ts',
}));

/** Every error that a caller can get. */
export const allErrors = (): ErrorText[] => [...errorTexts(), ...gatewayErrors];

const LABELS: Readonly<Record<string, string>> = {
  ...{ all_r: 'limit', all_t: 'limit', all_c: 'limit', MAX_AN_HOUR: 'limit', MAX_CREATIONS_PER_DAY: 'limit', maxHeldRequests: 'limit' },
  ...{ maxHeldRequestsOfOrganization: 'limit', holdNanos: 'cost', neededNanos: 'cost', leftNanos: 'amount', availableNanos: 'credit' },
  ...{ value: 'seconds', waitMs: 'seconds', host: 'model or deployment', SUBJECTS: 'who', named: 'model', of: 'organization' },
  ...{ actor: 'organization', body: 'version', event: 'id', text: 'id', refused: 'reason', longestTokens: 'tokens', each: 'resolution' },
  ...{ perDay: 'limit', MAX_CHARACTERS_TOGETHER: 'limit', lacking: 'permission', first: 'month', unsupported: 'field' },
  ...{
    LIMITING: 'field',
    maxTokensField: 'field',
    format: 'file',
    created_at: 'month',
    SETTABLE: 'statuses',
    ADMIN_FIELDS: 'field',
    OTHER_HEADERS: 'header',
    access: 'role',
  },
};
// Names that mean something else in the messages of one code.
const LABELS_OF_CODES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  context_length_exceeded: { first: 'input', last: 'input', long: 'input', context_length: 'windowTokens' },
  wrong_model_task: { value: 'path' },
  too_many_tokens: { value: 'tokens' },
  user_required: { request: 'field' },
};
// Parts of the messages of one code that differ from request to request, as one phrase.
const PHRASES: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  context_length_exceeded: [
    ['{bound}', 'The prompt can have at most {tokens} tokens'],
    ['Shorten them or {remedy}.', 'Shorten them or raise prompt_truncate_len. With truncation: "auto", lower {maxTokens} instead.'],
  ],
};
// Two unknowns without a character between them are a sum.
const SUM = /\{\w+\}\{\w+\}/g;

const labelled = (code: string, message: string): string => {
  const labels = { ...LABELS, ...LABELS_OF_CODES[code] };
  return (PHRASES[code] ?? [])
    .reduce((text, [part, phrase]) => text.replace(part, phrase), message)
    .replaceAll(SUM, '{number}')
    .replaceAll(/\{(\w+)\}/g, (whole, name: string) => (Object.hasOwn(labels, name) ? `{${labels[name]}}` : whole));
};

// Combinations of a message's parts that don't occur together.
const IMPOSSIBLE =
  /budget of this \w+\. Add|credit of this \w+\. Raise|credit of this key|: 1 tokens in|, 1 tokens in|''|up to (?:[01]|\{value\}) tokens|'bucket_width' \./;

const WORDS_OF_OTHERS = {
  cause: "The model's runtime rejected the request; the message is its own.",
  remedy: 'Correct the field that it names.',
};
const MAX_CAUSES = 4;

const cellOf = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

interface Row {
  code: string;
  status: number;
  causes: string[];
  remedies: string[];
}

const addNew = (texts: string[], text: string): void => {
  if (texts.every((known) => shapeOf(known) !== shapeOf(text))) texts.push(text);
};

const withJoinedRemedies = (rows: readonly Row[]): Row[] => {
  const joined = new Map<string, Row>();
  for (const row of rows) {
    const key = `${row.code} ${row.status} ${row.causes.map(shapeOf).sort(compare).join(' ')}`;
    const known = joined.get(key);
    if (known) for (const remedy of row.remedies) addNew(known.remedies, remedy);
    else joined.set(key, row);
  }
  return [...joined.values()];
};

const rowsOf = (errors: readonly ErrorText[]): Row[] => {
  const rows = new Map<string, Row>();
  for (const { code, status, message } of errors) {
    if (code === null || code.includes('{') || IMPOSSIBLE.test(message)) continue;
    const { cause, remedy } = /^\{[\w-]+\}$/.test(message) ? WORDS_OF_OTHERS : partsOf(labelled(code, message));
    const key = `${code} ${status} ${shapeOf(remedy)}`;
    const row = rows.get(key) ?? { code, status, causes: [], remedies: [remedy || 'Do what the message says.'] };
    rows.set(key, row);
    addNew(row.causes, cause);
  }
  return withJoinedRemedies([...rows.values()]).sort((a, b) =>
    compare(`${a.code} ${a.status} ${a.remedies[0]}`, `${b.code} ${b.status} ${b.remedies[0]}`),
  );
};

const lineOf = ({ code, status, remedies, causes }: Row): string => {
  const shown = causes.sort(compare).slice(0, MAX_CAUSES).map(cellOf);
  const more = causes.length > MAX_CAUSES ? ['…'] : [];
  return `| \`${code}\` | ${status} | ${[...shown, ...more].join('<br>')} | ${remedies.sort(compare).map(cellOf).join('<br>')} |`;
};

/** The page, from all errors. */
export const renderPage = (errors: readonly ErrorText[]): string => {
  const sections = SECTIONS.map(([title]) => {
    const lines = rowsOf(errors.filter((error) => sectionOf(error) === title)).map(lineOf);
    return `## ${title}\n\n| Code | Status | What is wrong | What to do |\n| --- | --- | --- | --- |\n${lines.join('\n')}\n`;
  });
  return [INTRODUCTION, ...sections].join('\n');
};
