import { InvalidScimFilter } from './errors.ts';
import { attributeName } from './names.ts';

/** A condition of a filter: the attribute in lower case, such as `emails.value`, has this value. */
export interface ScimCondition {
  attribute: string;
  value: string | number | boolean | null;
}

const MAX_CHARACTERS = 1_000;
const MAX_CONDITIONS = 10;

const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|([()[\]])|(\.[\w$-]+(?=[\s)]|$))|([\w$.:-]+))/y;

type Token = { kind: 'text'; text: string } | { kind: 'mark' | 'sub' | 'word'; text: string };

const tokensOf = (text: string): Token[] | undefined => {
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKEN);
  const end = text.trimEnd().length;
  while (pattern.lastIndex < end) {
    const [all, quoted, mark, sub, word] = pattern.exec(text) ?? [];
    if (all === undefined) return undefined;
    if (quoted !== undefined) tokens.push({ kind: 'text', text: quoted });
    else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark });
    else if (sub !== undefined) tokens.push({ kind: 'sub', text: sub.slice(1) });
    else tokens.push({ kind: 'word', text: word ?? '' });
  }
  return tokens;
};

const parsed = (text: string): ScimCondition['value'] | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? undefined : (value as ScimCondition['value']);
  } catch {
    return undefined;
  }
};

const LITERAL = /^(?:true|false|null|-?\d{1,15}(?:\.\d{1,15})?)$/i;

const literalOf = (token: Token | undefined): ScimCondition['value'] | undefined => {
  if (token?.kind === 'text') return parsed(token.text);
  return token?.kind === 'word' && LITERAL.test(token.text) ? parsed(token.text.toLowerCase()) : undefined;
};

// Reads `attribute eq value`, joined by `and`, until the tokens or the bracket end. undefined: another form.
class FilterReader {
  readonly conditions: ScimCondition[] = [];
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  readAll(): boolean {
    return this.#readJoined('') && this.#at === this.#tokens.length;
  }

  #take(kind: Token['kind'], text?: string): Token | undefined {
    const token = this.#tokens[this.#at];
    if (token?.kind !== kind || (text !== undefined && token.text.toLowerCase() !== text)) return undefined;
    this.#at += 1;
    return token;
  }

  #readJoined(prefix: string): boolean {
    do {
      if (this.conditions.length >= MAX_CONDITIONS || !this.#readOne(prefix)) return false;
    } while (this.#take('word', 'and'));
    return true;
  }

  #readOne(prefix: string): boolean {
    if (this.#take('mark', '(')) return this.#readJoined(prefix) && this.#take('mark', ')') !== undefined;
    const name = this.#take('word');
    if (!name) return false;
    const attribute = prefix + attributeName(name.text);
    if (prefix === '' && this.#take('mark', '[')) return this.#readWithin(attribute);
    return this.#readValue(attribute);
  }

  #readWithin(attribute: string): boolean {
    if (!this.#readJoined(`${attribute}.`) || !this.#take('mark', ']')) return false;
    const sub = this.#take('sub');
    return sub === undefined || this.#readValue(`${attribute}.${sub.text.toLowerCase()}`);
  }

  #readValue(attribute: string): boolean {
    if (!this.#take('word', 'eq')) return false;
    const value = literalOf(this.#tokens[this.#at]);
    this.#at += 1;
    if (value === undefined) return false;
    this.conditions.push({ attribute, value });
    return true;
  }
}

/**
 * Parses a filter of the forms that identity providers send (RFC 7644, section 3.4.2.2): `eq`, joined by `and`, also
 * within brackets. `emails[type eq "work"].value eq "a"` becomes conditions of `emails.type` and `emails.value`, which
 * is exact because a user has one address.
 * @param wanted for the error: the filters that the resource supports
 * @throws 400 for all other forms
 */
export const parseScimFilter = (text: string, wanted: string): ScimCondition[] => {
  const tokens = text.length <= MAX_CHARACTERS ? tokensOf(text) : undefined;
  const reader = new FilterReader(tokens ?? []);
  if (!reader.readAll()) throw new InvalidScimFilter(wanted);
  return reader.conditions;
};
