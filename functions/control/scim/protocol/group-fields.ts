import { InvalidScimValue } from './errors.ts';
import { isReadable, type PatchStep, readPatch, stepsOfObject, type UnreadableStep } from './patch.ts';

/** A change of a group. undefined: not in the request. */
export interface ScimGroupFields {
  displayName?: string;
  externalId?: string | null;
  /** The members in place of all others; `added` and `removed` are then empty. */
  members?: ReadonlySet<string>;
  added: ReadonlySet<string>;
  removed: ReadonlySet<string>;
}

const MAX_NAME = 256;
const MAX_EXTERNAL_ID = 256;
// As many as an organization can have users.
const MAX_MEMBERS = 1_000;

const textOf = (attribute: string, value: unknown, max: number): string => {
  const text = typeof value === 'string' ? value.trim() : '';
  if (text === '' || text.length > max) throw new InvalidScimValue(attribute, `a string of 1 to ${max} characters`);
  return text;
};

const memberOf = (member: unknown): string => {
  const value: unknown = typeof member === 'object' && member !== null ? (member as { value?: unknown }).value : member;
  if (typeof value !== 'string') throw new InvalidScimValue('members', 'a list of objects with the id of a user in value');
  return value;
};

const checkNumber = (number: number): void => {
  if (number > MAX_MEMBERS) throw new InvalidScimValue('members', `at most ${MAX_MEMBERS} members`);
};

const membersOf = (value: unknown): string[] => {
  const members = [value ?? []].flat() as unknown[];
  checkNumber(members.length);
  return members.map(memberOf);
};

// The members of one step: in brackets, as a list, or all.
const namedBy = ({ where, value }: PatchStep): string[] | 'all' => {
  if (where.length > 0) return where.map(({ attribute, value: id }) => (attribute === 'value' ? memberOf(id) : memberOf(undefined)));
  return value === undefined || value === null ? 'all' : membersOf(value);
};

class GroupReader {
  #fields: Pick<ScimGroupFields, 'displayName' | 'externalId'> = {};
  #members: Set<string> | undefined;
  readonly #added = new Set<string>();
  readonly #removed = new Set<string>();

  take(step: PatchStep): void {
    const { attribute, op, value } = step;
    if (attribute === 'displayname') this.#fields = { ...this.#fields, displayName: textOf('displayName', value, MAX_NAME) };
    else if (attribute === 'externalid')
      this.#fields = {
        ...this.#fields,
        externalId: op === 'remove' || value === null ? null : textOf('externalId', value, MAX_EXTERNAL_ID),
      };
    else if (attribute === 'members') this.#takeMembers(step);
  }

  #takeMembers(step: PatchStep): void {
    const named = step.op === 'remove' ? namedBy(step) : membersOf(step.value);
    if (named === 'all') this.#replace([]);
    else if (step.op === 'replace') this.#replace(named);
    else for (const id of named) this.#move(id, step.op === 'add');
  }

  #replace(members: readonly string[]): void {
    this.#members = new Set(members);
    this.#added.clear();
    this.#removed.clear();
  }

  #move(id: string, isAdded: boolean): void {
    if (this.#members) {
      if (isAdded) this.#members.add(id);
      else this.#members.delete(id);
      return;
    }
    (isAdded ? this.#removed : this.#added).delete(id);
    (isAdded ? this.#added : this.#removed).add(id);
  }

  fields(): ScimGroupFields {
    checkNumber((this.#members?.size ?? 0) + this.#added.size + this.#removed.size);
    return { ...this.#fields, ...(this.#members && { members: this.#members }), added: this.#added, removed: this.#removed };
  }
}

const fieldsOf = (steps: readonly (PatchStep | UnreadableStep)[]): ScimGroupFields => {
  const reader = new GroupReader();
  for (const step of steps) {
    if (!isReadable(step)) throw step.fault;
    reader.take(step);
  }
  return reader.fields();
};

/** Reads the body of a POST or PUT of a group. Without `members`, they stay as they are. @throws 400 */
export const readGroup = (body: unknown): ScimGroupFields => fieldsOf(stepsOfObject('replace', body));

/** Reads the body of a PATCH of a group: its operations one after the other. @throws 400 */
export const readGroupPatch = (body: unknown): ScimGroupFields => fieldsOf(readPatch(body));
