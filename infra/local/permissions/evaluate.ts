import type { Statement } from '../../assembly/interpret-roles.ts';

/** One action on one resource, which a call needs. */
export interface Need {
  /** `dynamodb:GetItem` */
  action: string;
  /** An ARN, or `*` for an action without resources. */
  resource: string;
  /** The values of condition keys, such as `aws:ResourceTag/sluice`. A key that the call does not have is absent. */
  context: Readonly<Record<string, readonly string[]>>;
}

/** One action and one resource as a policy names them. */
export interface Grant {
  action: string;
  resource: string;
}

export type Decision = { isAllowed: true; by: Grant } | { isAllowed: false; why: string };

const patterns = new Map<string, RegExp>();

/** Matches a text with a pattern of IAM: `*` stands for any characters, `?` for one. */
export const matches = (pattern: string, text: string, flags: '' | 'i' = ''): boolean => {
  const id = `${flags} ${pattern}`;
  let expression = patterns.get(id);
  if (!expression) {
    const source = pattern
      .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '[^]*')
      .replaceAll('?', '[^]');
    expression = new RegExp(`^${source}$`, flags);
    patterns.set(id, expression);
  }
  return expression.test(text);
};

const equals = (wanted: string, text: string): boolean => wanted === text;

type Test = (wanted: readonly string[], values: readonly string[]) => boolean;

const single =
  (compare: (wanted: string, text: string) => boolean): Test =>
  (wanted, values) => {
    const [value, ...others] = values;
    // IAM's operators without a set prefix are for keys with one value.
    return value !== undefined && others.length === 0 && wanted.some((each) => compare(each, value));
  };

const any =
  (compare: (wanted: string, text: string) => boolean): Test =>
  (wanted, values) =>
    values.some((value) => wanted.some((each) => compare(each, value)));

const TESTS: Record<keyof Statement['Condition'], Test> = {
  StringEquals: single(equals),
  StringLike: single(matches),
  'ForAnyValue:StringEquals': any(equals),
  'ForAnyValue:StringLike': any(matches),
};

const meets = ({ Condition }: Statement, { context }: Need): boolean =>
  Object.entries(Condition).every(([operator, keys]) =>
    Object.entries(keys).every(([key, wanted]) => TESTS[operator as keyof typeof TESTS](wanted, context[key] ?? [])),
  );

// Undefined if the statement doesn't apply to the need.
const grantOf = (statement: Statement, need: Need): Grant | undefined => {
  const action = statement.Action.find((each) => matches(each, need.action, 'i'));
  const resource = statement.Resource.find((each) => matches(each, need.resource));
  return action !== undefined && resource !== undefined && meets(statement, need) ? { action, resource } : undefined;
};

const decide = (statements: readonly Statement[], need: Need): Decision => {
  const denied = statements.find((statement) => statement.Effect === 'Deny' && grantOf(statement, need));
  if (denied) return { isAllowed: false, why: 'an explicit deny' };
  for (const statement of statements) {
    const by = statement.Effect === 'Allow' ? grantOf(statement, need) : undefined;
    if (by) return { isAllowed: true, by };
  }
  return { isAllowed: false, why: 'no policy allows it' };
};

// A function makes the same calls over and over. Objects in buckets have names without number.
const MAX_KEPT_DECISIONS = 1_000;
const keptDecisions = new WeakMap<readonly Statement[], Map<string, Decision>>();

/**
 * Decides as IAM does within an account: an explicit deny wins, then an allow; otherwise the call is denied
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html).
 * @param statements of a role, whose decisions are kept. They must not be changed
 */
export const evaluate = (statements: readonly Statement[], need: Need): Decision => {
  const kept = keptDecisions.get(statements) ?? new Map<string, Decision>();
  keptDecisions.set(statements, kept);
  const id = JSON.stringify([need.action, need.resource, need.context]);
  const known = kept.get(id);
  if (known) return known;
  if (kept.size >= MAX_KEPT_DECISIONS) kept.clear();
  const decision = decide(statements, need);
  kept.set(id, decision);
  return decision;
};
