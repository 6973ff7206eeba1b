import * as z from 'zod';
import { innermost, pathText, schemaAt, valueAt } from '../../shared/http/at-path.ts';
import { plainReason } from '../../shared/http/plain-reason.ts';
import { nearestName } from '../../shared/models/nearest-name.ts';

// A shorter name is near to too many others.
const MIN_CHARACTERS = 4;

/** The words for what a schema describes. */
export interface FaultWords {
  /** One of its fields: `setting`. */
  field: string;
  /** The whole: `The settings`. Undefined: whoever prints the sentences names it. */
  whole?: string;
  /** Fields of earlier releases, with what replaces them. */
  removed?: Readonly<Record<string, string>>;
  /** The name of a value for its reader. Default: its path. */
  nameOf?: (path: Path) => string;
}

type Path = readonly PropertyKey[];

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

const unknownName = (schema: unknown, path: Path, name: string, { field, removed = {} }: FaultWords): string => {
  const replacement = path.length === 0 && Object.hasOwn(removed, name) ? removed[name] : undefined;
  if (replacement !== undefined) return `${name} was removed. ${replacement}`;
  const names = namesOf(schemaAt(schema, path));
  const nearest = name.length < MIN_CHARACTERS ? undefined : nearestName(name, names);
  const hint = nearest === undefined ? `Use ${listed(names)}.` : `Did you mean ${pathText([...path, nearest])}?`;
  return `${pathText([...path, name])} is not a ${field}. ${hint}`;
};

const explain = (schema: unknown, value: unknown, issue: z.core.$ZodIssue, words: FaultWords): string[] => {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownName(schema, path, key, words));
  if (issue.code === 'invalid_key') return [unknownName(schema, path.slice(0, -1), String(path.at(-1)), words)];
  const place = (words.nameOf ?? pathText)(path) || words.whole;
  const actual = valueAt(value, path);
  const isMissing = actual === undefined && issue.code !== 'custom';
  const allowed = issue.code === 'custom' ? [] : allowedBy(schemaAt(schema, path));
  if (allowed.length > 0) {
    const values = `${listed(allowed)}${isMissing ? '' : `, not ${JSON.stringify(actual)}`}`;
    return [place === undefined ? `expected ${values}.` : `${place} must be ${values}.`];
  }
  const reason = `${plainReason(issue.message).replace(/, received undefined$/, '')}.`;
  return [place === undefined ? reason : `${place}${isMissing ? ' is missing' : ''}: ${reason}`];
};

/** Returns a sentence for each fault of a value, with the nearest name or the allowed values. */
export const explainFaults = (schema: z.ZodType, value: unknown, { issues }: z.ZodError, words: FaultWords): string[] =>
  issues.flatMap((issue) => explain(schema, value, issue, words));
