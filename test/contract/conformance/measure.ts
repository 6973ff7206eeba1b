import { type ChatExtra, type ChatField, chatFields } from '../../../functions/inference/chat/request.ts';
import type { Model } from '../../../shared/models/model.ts';
import { dialectOf, dialects } from '../../../shared/upstream/dialects.ts';
import { MistranslatedRequest, RefusedByModel, UpstreamFailed } from '../../../shared/upstream/errors.ts';
import type { Ask, Body } from './ask.ts';
import { BASE, type Check } from './check.ts';
import { checks } from './checks/index.ts';
import { type Facts, factsOf } from './facts.ts';
import type { Reply } from './reply.ts';
import { fails, refused, type Verdict } from './verdict.ts';

/** A row of the tables: a field, or one of its values or uses. */
export interface Row {
  field: ChatField | ChatExtra;
  label: string;
  check: Check | undefined;
}

const extras = [...new Set(Object.values(dialects).flatMap((dialect) => dialect.extras))];

/**
 * Every field of the interface in its order, then all other fields. Each has one row for each of its checks, at least
 * one.
 */
export const rows: readonly Row[] = [...chatFields, ...extras].flatMap((field): Row[] => {
  const own = checks.filter((check) => check.field === field);
  if (own.length === 0) return [{ field, label: field, check: undefined }];
  return own.map((check) => ({ field, label: check.variant ? `${field}: ${check.variant}` : field, check }));
});

/**
 * How a dialect treats a field, as in the dialect's table. A field outside the interface may be unknown to the
 * dialect.
 */
export const treatmentOf = (field: Row['field'], dialect: Model['dialect']): { how: string; to?: string } => {
  const { fields, extras: own } = dialectOf({ dialect });
  if (field in fields) return fields[field as ChatField];
  return { how: own.includes(field as ChatExtra) ? 'passed' : 'not sent' };
};

/**
 * Measures a container for rows, all rows by default. The verdicts are in the order of the rows. Throws ContainerGone.
 * @param onRow is called with each row before it is measured
 */
export const measure = async (
  ask: Ask,
  dialect: Model['dialect'],
  onRow: (label: string) => void = () => {},
  which: readonly Row[] = rows,
): Promise<Verdict[]> => {
  const facts = await learn(ask);
  const verdicts: Verdict[] = [];
  for (const row of which) {
    onRow(row.label);
    verdicts.push(await verdictOf(row, treatmentOf(row.field, dialect).how, ask, facts));
  }
  return verdicts;
};

const learn = async (ask: Ask): Promise<Facts> => factsOf(await tryAsk(ask, BASE), await tryAsk(ask, { ...BASE, return_token_ids: true }));

// undefined if the request fails for a reason that its row will report.
const tryAsk = async (ask: Ask, body: Body): Promise<Reply | undefined> => {
  try {
    return await ask(body, 'plain');
  } catch (error) {
    failureVerdict(error);
    return undefined;
  }
};

const verdictOf = async ({ field, check }: Row, how: string, ask: Ask, facts: Facts): Promise<Verdict> => {
  if (how === 'ignored' || how === 'not sent') return { result: how };
  if (how === 'refused') return { result: '400' };
  if (check) {
    try {
      return check.judge(await askAll(ask, check.bodies(facts), check.kind ?? 'plain'), facts);
    } catch (error) {
      return failureVerdict(error);
    }
  }
  if (how !== 'ours') throw new Error(`${field} is sent to the container, and nothing checks it`);
  return { result: 'done by Sluice' };
};

// One after another: parallel requests may change each other's answers.
const askAll = async (ask: Ask, bodies: readonly Body[], kind: Parameters<Ask>[1]): Promise<Reply[]> => {
  const answers: Reply[] = [];
  for (const body of bodies) answers.push(await ask({ ...BASE, ...body }, kind));
  return answers;
};

// Errors that the container did not cause are thrown again.
const failureVerdict = (error: unknown): Verdict => {
  if (error instanceof RefusedByModel || error instanceof MistranslatedRequest) return refused(error.message);
  if (error instanceof UpstreamFailed) return fails(error.detail.replace(/^ModelError: /, ''));
  throw error;
};
