import { readSettings, type SettingSchema } from './read-settings.ts';

type Json = { [keyword: string]: unknown };

// Their patterns say the same.
const OWN_FORMATS: ReadonlySet<string> = new Set(['cidrv4', 'cidrv6']);

const valueAt = (example: object, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], example);

const hover = ({ description, cost }: SettingSchema): string | undefined =>
  cost === undefined ? description : `${description} Costs: ${cost}`;

const forEditors = (schema: SettingSchema, path: readonly string[]): Json => {
  const { description, cost, example, defaultText, guide, properties, items, anyOf, format, ...words } = schema;
  const shown = hover(schema);
  const value = example && valueAt(example, path);
  return {
    ...(shown !== undefined && { description: shown }),
    ...words,
    ...(format !== undefined && !OWN_FORMATS.has(format) && { format }),
    ...(value !== undefined && { examples: [value] }),
    ...(anyOf && { anyOf: anyOf.map((member) => forEditors(member, path)) }),
    ...(items && { items: forEditors(items, path) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, inner]) => [key, forEditors(inner, [...path, key])])),
    }),
  };
};

/** The JSON Schema of cdk.json, with which an editor completes and checks the settings. */
export const editorSchema = (): Json => {
  const { $schema, ...settings } = forEditors(readSettings(), []);
  return {
    $schema,
    title: 'cdk.json of Sluice',
    type: 'object',
    properties: {
      context: { type: 'object', properties: { sluice: { description: 'The settings. See docs/settings.md.', ...settings } } },
    },
  };
};
