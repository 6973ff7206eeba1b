import type { UsageEvent } from '../../shared/usage/event.ts';
import {
  DETAILS,
  type Detail,
  type OrganizationTotals,
  SPAN_MS,
  SPANS,
  type Span,
  type TotalsQuery,
} from '../../shared/usage/organization-totals.ts';
import { addEvent, noTotals } from '../../shared/usage/totals.ts';
import { DEPLOYMENT } from './usage-events.ts';

/** All spans by all details that are stored. */
export const VIEWS: readonly Pick<TotalsQuery, 'span' | 'detail'>[] = SPANS.flatMap((span) => DETAILS.map((detail) => ({ span, detail })));

const LONGEST_USER = 128;

const userOf = ({ user_id, user }: UsageEvent): string | null => {
  const name = user_id ?? user ?? null;
  return name !== null && name.length > LONGEST_USER ? '(other)' : name;
};

/** Sums an organization's events one by one, with every user of a span known from the beginning. */
export const plainOrganizationSums = (
  events: readonly UsageEvent[],
  { organization, span, detail }: { organization: string; span: Span; detail: Detail },
  maxUsers: number,
): OrganizationTotals[] => {
  const startOf = (event: UsageEvent): number => Math.floor(event.admitted_at / SPAN_MS[span]) * SPAN_MS[span];
  const sums = new Map<string, OrganizationTotals>();
  const own = events.filter(({ org_id }) => org_id === organization);
  for (const event of own) {
    const startMs = startOf(event);
    const named = own.filter((each) => startOf(each) === startMs).flatMap((each) => userOf(each) ?? []);
    const first = [...new Set(named)]
      .filter((name) => name !== '(other)')
      .sort()
      .slice(0, maxUsers);
    const user = userOf(event);
    const group = {
      organization,
      startMs,
      model: event.model ?? null,
      route: event.route ?? null,
      deployment: event.endpoint?.startsWith('sluice-') ? DEPLOYMENT : null,
      ...(detail !== 'model' && { keyId: event.key_id }),
      ...(detail === 'user' && { userId: user === null || first.includes(user) ? user : '(other)' }),
    };
    const id = JSON.stringify(group);
    const sum = sums.get(id) ?? { ...group, totals: noTotals() };
    sums.set(id, sum);
    addEvent(sum.totals, event);
  }
  return sorted([...sums.values()]);
};

/** In a fixed order, for comparison. */
export const sorted = (totals: readonly OrganizationTotals[]): OrganizationTotals[] => {
  const name = ({ startMs, model, route, deployment, keyId, userId }: OrganizationTotals): string =>
    JSON.stringify([startMs, model, route, deployment, keyId, userId]);
  return [...totals].sort((a, b) => (name(a) < name(b) ? -1 : 1));
};

/** The range of the UTC days from one to another. */
export const rangeOf = (from: string, to: string) => ({ fromMs: Date.parse(from), toMs: Date.parse(to) + SPAN_MS.day });
