import * as z from 'zod';
import { plainReason } from '../../shared/http/plain-reason.ts';
import { innermost, schemaAt } from '../../shared/http/schema-at.ts';
import { nearestName } from '../../shared/models/nearest-name.ts';

// A shorter name is near to too many others.
const MIN_CHARACTERS = 4;

// Settings of earlier releases, with what replaces them.
const REMOVED: Readonly<Record<string, string>> = {
  selfSignUp: 'It let strangers into the user pool, where they could not log in. Invite users instead (docs/control-plane.md).',
  structuredOutputs: 'Set capabilities.structured_outputs of each model instead (docs/publish-models.md).',
};

type Path = readonly PropertyKey[];

const textOf = (path: Path): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${String(part)}` : String(part)),
    '',
  );

const listed = (values: readonly unknown[], last = 'or'): string =>
  values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} ${last} ${values.at(-1)}`;

const allowedBy = (schema: unknown): readonly unknown[] => {
  const inner = innermost(schema);
  if (inner instanceof z.ZodEnum) return inner.options;
  if (inner instanceof z.ZodLiteral) return [...inner.values];
  if (inner instanceof z.ZodBoolean) return [true, false];
  if (inner instanceof z.ZodUnion) {
    const options = inner.options.map(allowedBy);
    return options.every(({ length }) => length > 0) ? options.flat() : [];
  }
  return [];
};

const namesOf = (schema: unknown): string[] => {
  const inner = innermost(schema);
  if (inner instanceof z.ZodObject) return Object.keys(inner.shape);
  return inner instanceof z.ZodRecord ? allowedBy(inner.keyType).map(String) : [];
};

const unknownName = (schema: unknown, path: Path, name: string): string => {
  const replacement = path.length === 0 && Object.hasOwn(REMOVED, name) ? REMOVED[name] : undefined;
  if (replacement !== undefined) return `${name} was removed. ${replacement}`;
  const names = namesOf(schemaAt(schema, path));
  const nearest = name.length < MIN_CHARACTERS ? undefined : nearestName(name, names);
  const hint = nearest === undefined ? `Use ${listed(names)}.` : `Did you mean ${textOf([...path, nearest])}?`;
  return `${textOf([...path, name])} is not a setting. ${hint}`;
};

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, part) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[part], value);

const explain = (schema: unknown, value: unknown, issue: z.core.$ZodIssue): string[] => {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownName(schema, path, key));
  if (issue.code === 'invalid_key') return [unknownName(schema, path.slice(0, -1), String(path.at(-1)))];
  const allowed = issue.code === 'custom' ? [] : allowedBy(schemaAt(schema, path));
  if (allowed.length > 0) return [`${textOf(path)} must be ${listed(allowed)}, not ${JSON.stringify(valueAt(value, path))}.`];
  return [`${textOf(path) || 'The settings'}: ${plainReason(issue.message)}.`];
};

/** Returns a sentence for each fault of settings, with the nearest name or the allowed values. */
export const explainFaults = (schema: z.ZodType, value: unknown, { issues }: z.ZodError): string[] =>
  issues.flatMap((issue) => explain(schema, value, issue));
