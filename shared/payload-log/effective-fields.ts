import * as z from 'zod';

/** The fields that a schema knows, at each level. Without fields or items, all that is there is known. */
export interface KnownFields {
  fields?: Record<string, KnownFields> | undefined;
  items?: KnownFields | undefined;
}

const KnownFields: z.ZodType<KnownFields> = z.lazy(() =>
  z.object({ fields: z.record(z.string(), KnownFields).optional(), items: KnownFields.optional() }),
);

/** Which fields of a request have an effect. */
export const EffectiveFields = z.object({
  known: KnownFields,
  /**
   * Fields that are known and had no effect, as `x-sluice-ignored` names them: `name`, `name.field`, or `tools.type`
   * for the tools of a type.
   */
  ignored: z.array(z.string()),
});
export type EffectiveFields = z.infer<typeof EffectiveFields>;

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

const keepKnown = (value: unknown, { fields, items }: KnownFields): unknown => {
  if (Array.isArray(value)) return items ? value.map((item) => keepKnown(item, items)) : value;
  if (!isFields(value) || !fields) return value;
  const kept = Object.entries(value).filter(([name]) => Object.hasOwn(fields, name));
  return Object.fromEntries(kept.map(([name, child]) => [name, keepKnown(child, fields[name] as KnownFields)]));
};

const without = (value: Fields, name: string): Fields => Object.fromEntries(Object.entries(value).filter(([own]) => own !== name));

const TOOLS = 'tools';

const withoutIgnored = (body: Fields, ignored: string): Fields => {
  if (Object.hasOwn(body, ignored)) return without(body, ignored);
  const dot = ignored.indexOf('.');
  const [name, rest] = [ignored.slice(0, Math.max(dot, 0)), ignored.slice(dot + 1)];
  const value = body[name];
  if (name === TOOLS && Array.isArray(value)) return { ...body, tools: value.filter((tool) => !isFields(tool) || tool.type !== rest) };
  return isFields(value) ? { ...body, [name]: without(value, rest) } : body;
};

/** A request's body without the fields that had no effect, at any level that its schema knows. */
export const keepEffective = (body: unknown, { known, ignored }: EffectiveFields): unknown => {
  const kept = keepKnown(body, known);
  return isFields(kept) ? ignored.reduce(withoutIgnored, kept) : kept;
};
