import * as z from 'zod';
import { ApiError } from '../../../../shared/http/errors.ts';
import { validate } from '../../../../shared/http/validate.ts';
import { InvalidScimPath, InvalidScimValue } from './errors.ts';
import { parseScimFilter, type ScimCondition } from './filter.ts';
import { attributeName } from './names.ts';

const MAX_OPERATIONS = 1_000;

const PatchBody = z.looseObject({
  Operations: z
    .array(z.looseObject({ op: z.string(), path: z.string().max(1_000).optional(), value: z.unknown().optional() }))
    .min(1)
    .max(MAX_OPERATIONS),
});

/** One attribute that a PATCH changes. */
export interface PatchStep {
  op: 'add' | 'replace' | 'remove';
  /** In lower case, such as `name.givenname`, without what is in brackets. */
  attribute: string;
  /** The conditions in brackets. */
  where: readonly ScimCondition[];
  /** undefined: there is none, as in most removals. */
  value: unknown;
}

/** An operation, or an attribute of one, that can't be read. */
export interface UnreadableStep {
  fault: ApiError;
}

const readStep = <Read>(read: () => Read): Read | UnreadableStep => {
  try {
    return read();
  } catch (error) {
    if (error instanceof ApiError) return { fault: error };
    throw error;
  }
};

/** Says if a step can be read. */
export const isReadable = (step: PatchStep | UnreadableStep): step is PatchStep => !('fault' in step);

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The attributes of an object as steps: also those that Entra writes with a dot, or with a filter. Names that no
 * attribute of ours can have, such as a URN with a slash, are left out like other attributes that are not kept.
 */
export const stepsOfObject = (op: 'add' | 'replace', value: unknown): (PatchStep | UnreadableStep)[] => {
  if (!isObject(value)) throw new InvalidScimValue('value', 'an object with attributes if the operation has no path');
  const named = Object.entries(value).filter(([path]) => PATH.test(path.trim()));
  return named.map(([path, each]) => readStep(() => ({ op, ...parsePath(path), value: each })));
};

const PATH = /^([\w$.:-]+)(?:\[(.*)\](?:\.([\w$-]+))?)?$/s;

const parsePath = (path: string): Pick<PatchStep, 'attribute' | 'where'> => {
  const [, name, filter, sub] = PATH.exec(path.trim()) ?? [];
  if (name === undefined) throw new InvalidScimPath(path);
  const where = filter === undefined ? [] : parseScimFilter(filter, 'value eq "…" or type eq "…" in brackets');
  return { attribute: attributeName(sub === undefined ? name : `${name}.${sub}`), where };
};

const OPS = new Set(['add', 'replace', 'remove']);

const stepsOfOperation = ({ op: given, path, value }: z.output<typeof PatchBody>['Operations'][number]) => {
  const op = given.toLowerCase() as PatchStep['op'];
  if (!OPS.has(op)) throw new InvalidScimValue('op', 'add, replace or remove');
  if (path !== undefined) return [{ op, ...parsePath(path), value }];
  if (op === 'remove') throw new InvalidScimPath('');
  return stepsOfObject(op, value);
};

/**
 * Reads the operations of a PATCH in the shapes of Okta and Entra: with and without a path, and in any case
 * (RFC 7644, section 3.5.2).
 * @throws 400 for a body without operations
 */
export const readPatch = (body: unknown): (PatchStep | UnreadableStep)[] =>
  validate(PatchBody, body).Operations.flatMap((operation) => readStep(() => stepsOfOperation(operation)));
