import { describe, expect, test } from '@jest/globals';
import { attentionOf as attentionFor, type Summary } from '../../../console/pages/home/attention.ts';
import { type Deployment, instancesOf, isWaiting, notableOf } from '../../../console/pages/home/running.ts';
import { stepsOf } from '../../../console/pages/home/steps.ts';

const empty: Summary = { object: 'summary', created_at: 1, organization: 'org_1', unavailable: [] };
const attentionOf = (summary: Summary) => attentionFor(summary, { canWriteTickets: true });

describe('what needs attention', () => {
  test('is nothing without sections, and with sections in which all is well', () => {
    expect(attentionOf(empty)).toEqual([]);
    expect(
      attentionOf({
        ...empty,
        credit: { prepaid: true, balance: '0.5' },
        budget: { month_budget: '10', spent: '9.5', left: '0.5' },
        api_keys: { open: 1, expiring_soon: null, left: 3 },
        invoices: { open: 1, overdue: 0, is_partial: false },
        webhooks: null,
      }),
    ).toEqual([]);
  });

  test('begins with what stops requests, and leads to where it can be changed', () => {
    const entries = attentionOf({
      ...empty,
      api_keys: { open: 1, expiring_soon: 1, left: 3 },
      credit: { prepaid: true, balance: '0' },
      deployments: { states: { failed: 2 }, failed: ['dep_1', 'dep_2'], cost_per_hour_now: '0', is_partial: false },
      tickets: { waiting_on_me: 3, is_partial: false },
    });
    expect(entries.map(({ text, to }) => [text, to])).toEqual([
      ['Credit is used up: requests are rejected', '/billing?view=credit'],
      ['2 deployments have failed', '/deployments?state=failed'],
      ['3 tickets are waiting for you', '/tickets?state=customer'],
      ['1 API key expires within 7 days', '/api-keys?attention=expiring'],
    ]);
  });

  test('is no ticket for those who can only read them', () => {
    const summary: Summary = { ...empty, tickets: { waiting_on_me: 3, is_partial: false } };
    expect(attentionOf(summary)).toHaveLength(1);
    expect(attentionFor(summary, { canWriteTickets: false })).toEqual([]);
  });

  test('has organizations that are suspended', () => {
    expect(attentionOf({ ...empty, organizations: { suspended: 0, is_partial: true } })).toEqual([]);
    expect(attentionOf({ ...empty, organizations: { suspended: 2, is_partial: false } })).toMatchObject([
      { text: '2 organizations are suspended', to: '/organizations?status=suspended' },
    ]);
  });

  test('leads support to the ticket that is due first, as an error if it is overdue', () => {
    const tickets = { waiting_on_me: 1, unassigned: 2, is_partial: false } as const;
    const due = (due_at: number) => ({ ...tickets, breaching_next: { id: 'tkt_1', clock: 'first_response', due_at } as const });
    const [overdue, ...others] = attentionOf({ ...empty, created_at: 7_200, tickets: due(0) });
    expect(overdue).toEqual({ text: 'The first response of a ticket was due 2 hours ago', to: '/tickets/tkt_1', tone: 'bad' });
    expect(others.map(({ to }) => to)).toEqual(['/tickets?assignee=me', '/tickets?assignee=none']);
    expect(attentionOf({ ...empty, tickets: due(7_200) })[0]).toMatchObject({ to: '/tickets/tkt_1', tone: 'warn' });
    expect(attentionOf({ ...empty, tickets: due(80_000) })[0]).toMatchObject({ to: '/tickets?assignee=me' });
  });

  test.each(['0', '0.00', '-1.5'])('has a credit of %s', (balance) => {
    expect(attentionOf({ ...empty, credit: { prepaid: true, balance } })).toHaveLength(1);
    expect(attentionOf({ ...empty, credit: { prepaid: false, balance } })).toEqual([]);
  });
});

describe('the deployments of all organizations', () => {
  const deploymentOf = (id: string, state: Deployment['state'], count: number, price_per_hour: string) =>
    ({
      id,
      state,
      price_per_hour,
      instances: count > 0 ? [{ instance_type: 'ml.g6.xlarge', generation: 1, count, phase: 'running' }] : [],
    }) as unknown as Deployment;

  test('are shown if they cost, wait or have failed: failures first, then by cost', () => {
    const all = [
      deploymentOf('cheap', 'in_service', 1, '0.000000001'),
      deploymentOf('asleep', 'scaled_to_zero', 0, '0'),
      deploymentOf('dear', 'in_service', 2, '12.5'),
      deploymentOf('waking', 'waking', 0, '0'),
      deploymentOf('failed', 'failed', 0, '0'),
    ];
    expect(notableOf(all).map(({ id }) => id)).toEqual(['failed', 'waking', 'dear', 'cheap']);
    expect(all.filter(isWaiting).map(({ id }) => id)).toEqual(['waking']);
    expect(all.map(instancesOf)).toEqual([1, 0, 2, 0, 0]);
  });
});

describe('the first steps', () => {
  const shown = (onboarding: Summary['onboarding']) =>
    stepsOf({ ...empty, onboarding }).map(({ title, isDone, to }) => [title, isDone, to]);

  test('are those of the role, until all are done', () => {
    expect(stepsOf(empty)).toEqual([]);
    expect(shown(null)).toEqual([]);
    expect(shown({ has_key: true, has_request: true })).toEqual([]);
    expect(shown({ has_key: true, has_request: false })).toEqual([
      ['Create an API key', true, '/api-keys?dialog=create'],
      ['Send a request', false, '/api-keys'],
    ]);
  });

  test('lead an admin from a model to an invoice, and first to choose an organization for a key', () => {
    const todo = { has_organization: false, has_owner: false, has_key: false, has_request: false, has_invoice: false };
    expect(shown({ has_model: true, ...todo })).toEqual([
      ['Register a model', true, '/models'],
      ['Create an organization', false, '/organizations?dialog=onboard'],
      ['Invite its owner', false, '/users'],
      ['Create an API key', false, '/api-keys'],
      ['Send a request', false, '/api-keys'],
      ['Issue an invoice', false, '/invoices'],
    ]);
  });
});
