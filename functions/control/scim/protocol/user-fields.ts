import { ApiError } from '../../../../shared/http/errors.ts';
import { InvalidScimValue } from './errors.ts';
import { isReadable, type PatchStep, readPatch, stepsOfObject, type UnreadableStep } from './patch.ts';

/** The attributes of a user that Sluice keeps. undefined: not in the request; null: removed. */
export interface ScimUserFields {
  userName?: string;
  externalId?: string | null;
  displayName?: string | null;
  formatted?: string | null;
  givenName?: string | null;
  familyName?: string | null;
  active?: boolean;
}

const MAX_EXTERNAL_ID = 256;
// A longer name is cut, because it must not keep a person from being created, or a leaver from being deactivated.
const MAX_NAME = 100;

const textOf = (attribute: string, value: unknown): string | null => {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'string') throw new InvalidScimValue(attribute, 'a string');
  return value.trim() || null;
};

const nameOf = (attribute: string, value: unknown): string | null => {
  const text = textOf(attribute, value);
  return text === null ? null : [...text].slice(0, MAX_NAME).join('').trim();
};

const userNameOf = (value: unknown): string => {
  const text = textOf('userName', value);
  if (text === null) throw new InvalidScimValue('userName', 'an email address');
  return text;
};

const externalIdOf = (value: unknown): string | null => {
  const text = textOf('externalId', value);
  if (text !== null && text.length > MAX_EXTERNAL_ID) throw new InvalidScimValue('externalId', `at most ${MAX_EXTERNAL_ID} characters`);
  return text;
};

// Also the strings that Entra sends.
const booleanOf = (attribute: string, value: unknown): boolean => {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : value;
  if (text === true || text === 'true') return true;
  if (text === false || text === 'false') return false;
  throw new InvalidScimValue(attribute, 'true or false');
};

const READERS: Readonly<Record<string, (value: unknown) => ScimUserFields>> = {
  username: (value) => ({ userName: userNameOf(value) }),
  externalid: (value) => ({ externalId: externalIdOf(value) }),
  displayname: (value) => ({ displayName: nameOf('displayName', value) }),
  'name.formatted': (value) => ({ formatted: nameOf('name.formatted', value) }),
  'name.givenname': (value) => ({ givenName: nameOf('name.givenName', value) }),
  'name.familyname': (value) => ({ familyName: nameOf('name.familyName', value) }),
  active: (value) => ({ active: booleanOf('active', value) }),
};

const NO_NAME = { formatted: null, givenName: null, familyName: null };

// Attributes that Sluice doesn't keep, such as a title, are ignored: providers send more than is asked for.
const fieldsOfStep = ({ op, attribute, value }: PatchStep): ScimUserFields => {
  if (attribute === 'name') {
    if (op === 'remove' || value === null) return NO_NAME;
    return fieldsOf(stepsOfObject(op, value).map((step) => (isReadable(step) ? { ...step, attribute: `name.${step.attribute}` } : step)));
  }
  if (op === 'remove' && attribute === 'active') return {};
  // An attribute is the caller's text, and every object inherits properties such as `constructor`.
  const read = Object.hasOwn(READERS, attribute) ? READERS[attribute] : undefined;
  return read?.(op === 'remove' ? null : value) ?? {};
};

const deactivates = (steps: readonly PatchStep[]): boolean => {
  const last = steps.findLast(({ attribute, op }) => attribute === 'active' && op !== 'remove');
  return last !== undefined && fieldsOfStep(last).active === false;
};

// A wrong value, path or filter of another attribute must not keep a leaver from being deactivated, so it is ignored
// then.
const fieldsOf = (steps: readonly (PatchStep | UnreadableStep)[]): ScimUserFields => {
  const isLeaving = deactivates(steps.filter(isReadable));
  const read = (step: PatchStep | UnreadableStep): ScimUserFields => {
    try {
      if (!isReadable(step)) throw step.fault;
      return fieldsOfStep(step);
    } catch (error) {
      if (isLeaving && error instanceof ApiError) return {};
      throw error;
    }
  };
  return Object.assign({}, ...steps.map(read));
};

/** Reads the body of a POST or PUT of a user. @throws 400 */
export const readUser = (body: unknown): ScimUserFields => fieldsOf(stepsOfObject('replace', body));

/** Reads the body of a PATCH of a user; of several operations on one attribute, the last counts. @throws 400 */
export const readUserPatch = (body: unknown): ScimUserFields => fieldsOf(readPatch(body));
