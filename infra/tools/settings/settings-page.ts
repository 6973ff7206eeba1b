import { readSettings, type Setting, type SettingSchema, settingsIn } from './read-settings.ts';

const HEAD = `# Settings (generated)

Every setting, with its type, its default, what it costs and an example. All settings are optional. Put settings under the context key \`sluice\` in
\`cdk.json\`, where an editor completes and checks them by [settings.schema.json](settings.schema.json), or on the command line, where they replace those of
\`cdk.json\`:

\`\`\`sh
npm run deploy -- -c sluice='{"alarmEmail":"ops@example.com"}'
\`\`\`

[options.md](options.md) has the steps that a setting needs, such as DNS records. [cost.md](cost.md) has the prices and the cost of a whole month. Amounts are list
prices of us-east-1. This page is made from \`infra/config/config.ts\` by \`npm run settings\`.
`;

const HOSTS = ['serverless', 'ondemand', 'control'];
// The settings of the three hosts are described once.
const ANY_HOST = 'hosts.<host>.';

const shown = (value: unknown): string => (typeof value === 'number' ? value.toLocaleString('en-US') : `\`${JSON.stringify(value)}\``);

const range = ({ minimum, maximum }: SettingSchema): string =>
  minimum === undefined || maximum === undefined ? '' : ` from ${shown(minimum)} to ${shown(maximum)}`;

const textType = ({ format, maxLength }: SettingSchema): string => {
  const noun = format === 'uri' ? 'URL' : format === 'email' ? 'email address' : 'text';
  return maxLength === undefined ? noun : `${noun} of up to ${maxLength} characters`;
};

const memberOf = ([key, { default: value }]: [string, SettingSchema]): string =>
  typeof value === 'number' ? `\`${key}\` (${shown(value)})` : `\`${key}\``;

const typeOf = (schema: SettingSchema): string => {
  const { type, enum: values, anyOf, items, properties, maxItems } = schema;
  if (anyOf?.every((member) => member.const !== undefined)) return anyOf.map((member) => shown(member.const)).join(', ');
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(' or ');
  if (values) return values.map(shown).join(' or ');
  if (type === 'boolean') return '`true` or `false`';
  if (type === 'null') return '`null`';
  if (type === 'integer' || type === 'number') return `${type}${range(schema)}`;
  if (type === 'array') return `list, at most ${maxItems}, each: ${items ? typeOf(items) : ''}`;
  if (type === 'object') return properties ? `object of ${Object.entries(properties).map(memberOf).join(', ')}` : 'object';
  return textType(schema);
};

const guideTo = ({ guide }: SettingSchema): string => (guide ? ` See [${guide.split('#')[0]}](${guide}).` : '');

interface Entry {
  name: string;
  schema: Setting['schema'];
  standard: string;
}

const defaultOf = ({ defaultText, default: value }: SettingSchema): string => defaultText ?? shown(value);

const byHost = (settings: readonly Setting[], name: string): string =>
  settings
    .filter(({ path }) => HOSTS.some((host) => path === `hosts.${host}.${name}`))
    .map(({ path, schema }) => `${shown(schema.default)} for \`${path.split('.')[1]}\``)
    .join(', ');

const entriesOf = (settings: readonly Setting[]): Entry[] =>
  settings.flatMap(({ path, schema }) => {
    const [, host, name = ''] = /^hosts\.(\w+)\.(\w+)$/.exec(path) ?? [];
    if (host === undefined) return [{ name: path, schema, standard: defaultOf(schema) }];
    if (host !== HOSTS[0]) return [];
    const standard = schema.defaultText ?? byHost(settings, name);
    return [{ name: `${ANY_HOST}${name}`, schema, standard }];
  });

const anchorOf = (name: string): string => name.toLowerCase().replaceAll(/[^\w-]/g, '');

const MAX_LINE = 140;
const MAX_OVERVIEW = 60;

const exampleOf = (value: object): string => {
  const line = JSON.stringify(value);
  return line.length > MAX_LINE ? `- Example:\n\n\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\`` : `- Example: \`${line}\``;
};

const renderEntry = (level: string, { name, schema, standard }: Entry): string => {
  const facts = [`- Type: ${typeOf(schema)}`, `- Default: ${standard}`, `- Costs: ${schema.cost}`, exampleOf(schema.example)];
  return [`${level} \`${name}\``, `${schema.description}${guideTo(schema)}`, facts.join('\n')].join('\n\n');
};

const renderKey = (key: string, schema: SettingSchema, entries: readonly Entry[]): string => {
  const own = entries.filter(({ name }) => name === key || name.startsWith(`${key}.`));
  if (own[0]?.name === key) return renderEntry('##', own[0]);
  return [`## \`${key}\``, `${schema.description}${guideTo(schema)}`, ...own.map((entry) => renderEntry('###', entry))].join('\n\n');
};

const tableOf = (rows: readonly string[][]): string => {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) => `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  return [lines[0], `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...lines.slice(1)].join('\n');
};

/** docs/settings.md. */
export const settingsPage = (): string => {
  const schema = readSettings();
  const entries = entriesOf(settingsIn(schema));
  const overview = entries.map(({ name, schema: { cost }, standard }) => [
    `[\`${name}\`](#${anchorOf(name)})`,
    standard.length > MAX_OVERVIEW ? 'it depends' : standard,
    cost,
  ]);
  const keys = Object.entries(schema.properties ?? {}).map(([key, inner]) => renderKey(key, inner, entries));
  return [`${HEAD}\n${tableOf([['Setting', 'Default', 'Costs'], ...overview])}`, ...keys, ''].join('\n\n').trimEnd().concat('\n');
};
