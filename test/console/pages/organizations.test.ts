import { describe, expect, test } from '@jest/globals';
import { draftOfLimits, faultsOfLimits, limitsOf, NO_LIMITS, type Organization } from '../../../console/pages/organization/limits-draft.ts';
import { changesOfOrganization, draftOfOrganization } from '../../../console/pages/organization/organization-draft.ts';
import {
  createOnboarding,
  EMPTY_ONBOARDING,
  isReady,
  type OnboardingDraft,
  stepsOf,
} from '../../../console/pages/organizations/onboarding.ts';
import { welcomeOf } from '../../../console/pages/organizations/welcome.ts';

const ORGANIZATION: Organization = {
  id: 'org_new00000',
  object: 'organization',
  name: 'Acme',
  status: 'active',
  limits: { requests_per_minute: null, tokens_per_minute: 1_000, concurrency: 100, month_budget: '12.5', prepaid: false },
  has_default_concurrency: true,
  no_content: false,
  no_content_version: 0,
  no_content_pending: false,
  require_second_factor: false,
  fresh_login_minutes: 60,
  created_at: 1,
  updated_at: 1,
  version: 1,
};

const DRAFT: OnboardingDraft = {
  ...EMPTY_ONBOARDING,
  name: 'Acme',
  email: 'Ada@acme.example',
  keyName: 'production',
  prepaid: true,
  credit: '100',
};

const failure = (status: number) => Object.assign(new Error(`status ${status}`), { status });

type Answer = unknown | Error;

// Answers in turn to each route; the last answer is repeated.
const fakeCall = (answers: Record<string, Answer[]>) => {
  const sent: string[] = [];
  const call = async (name: string) => {
    sent.push(name);
    const [answer, ...rest] = answers[name] ?? [];
    if (rest.length > 0) answers[name] = rest;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { sent, call: call as unknown as Parameters<typeof createOnboarding>[0] };
};

const LIST = 'GET /v1/organizations';
const CREATE = 'POST /v1/organizations';
const LIMITS = 'PUT /v1/organizations/{id}/limits';
const CREDIT = 'POST /v1/organizations/{id}/credit-grants';
const OWNER = 'POST /v1/users';
const KEY = 'POST /v1/api-keys';

const workingAnswers = (): Record<string, Answer[]> => ({
  [LIST]: [{ data: [] }],
  [CREATE]: [ORGANIZATION],
  [LIMITS]: [ORGANIZATION],
  [CREDIT]: [{ number: 1 }],
  [OWNER]: [{ id: 'user_1' }],
  [KEY]: [{ id: 'key_1', secret: 'sk-1' }],
});

describe('onboarding an organization', () => {
  test('takes only the steps that the form asks for', () => {
    expect(stepsOf({ ...EMPTY_ONBOARDING, name: 'Acme', email: 'a@b.c', credit: '5' })).toEqual(['organization', 'owner']);
    expect(stepsOf(DRAFT)).toEqual(['organization', 'limits', 'credit', 'owner', 'api_key']);
  });

  test('is not ready with a wrong amount or without an owner', () => {
    expect(isReady(DRAFT)).toBe(true);
    expect(isReady({ ...DRAFT, credit: '0' })).toBe(false);
    expect(isReady({ ...DRAFT, email: '' })).toBe(false);
  });

  test('takes all steps in order, each once', async () => {
    const { sent, call } = fakeCall(workingAnswers());
    const onboarding = createOnboarding(call, 'once');
    await onboarding.run(DRAFT, () => undefined);
    await onboarding.run(DRAFT, () => undefined);
    expect(sent).toEqual([LIST, CREATE, LIMITS, CREDIT, OWNER, KEY]);
    expect(onboarding.made().api_key?.secret).toBe('sk-1');
  });

  test('goes on at the step that was rejected, and lets its fields be corrected', async () => {
    const { sent, call } = fakeCall({ ...workingAnswers(), [OWNER]: [failure(409), { id: 'user_1' }] });
    const onboarding = createOnboarding(call, 'once');
    await expect(onboarding.run(DRAFT, () => undefined)).rejects.toThrow('status 409');
    expect([...onboarding.fixed()]).toEqual(['organization', 'limits', 'credit']);
    await onboarding.run({ ...DRAFT, email: 'other@acme.example' }, () => undefined);
    expect(sent).toEqual([LIST, CREATE, LIMITS, CREDIT, OWNER, OWNER, KEY]);
  });

  test.each([0, 503])('takes over the organization that a request with an unknown outcome (status %i) has made', async (status) => {
    const { sent, call } = fakeCall({
      ...workingAnswers(),
      [LIST]: [{ data: [{ ...ORGANIZATION, id: 'org_namesake0' }] }, { data: [ORGANIZATION, { ...ORGANIZATION, id: 'org_namesake0' }] }],
      [CREATE]: [failure(status)],
    });
    const onboarding = createOnboarding(call, 'once');
    await expect(onboarding.run(DRAFT, () => undefined)).rejects.toThrow();
    expect(onboarding.fixed()).toContain('organization');
    await onboarding.run(DRAFT, () => undefined);
    expect(onboarding.made().organization?.id).toBe(ORGANIZATION.id);
    expect(sent.filter((name) => name === CREATE)).toHaveLength(1);
  });

  test('sends a lost creation again if it has made nothing', async () => {
    const { sent, call } = fakeCall({ ...workingAnswers(), [CREATE]: [failure(0), ORGANIZATION] });
    const onboarding = createOnboarding(call, 'once');
    await expect(onboarding.run(DRAFT, () => undefined)).rejects.toThrow();
    await onboarding.run(DRAFT, () => undefined);
    expect(sent.filter((name) => name === CREATE)).toHaveLength(2);
  });

  test('finds an owner and gives a key a new secret if their replies were lost', async () => {
    const { sent, call } = fakeCall({
      ...workingAnswers(),
      [OWNER]: [failure(0)],
      'GET /v1/users': [{ data: [{ id: 'user_lost', email: 'ada@acme.example' }] }],
      [KEY]: [failure(0)],
      'GET /v1/api-keys': [{ data: [{ id: 'key_lost', name: 'production', version: 1 }] }],
      'POST /v1/api-keys/{id}/rotate': [{ id: 'key_lost', secret: 'sk-2' }],
    });
    const onboarding = createOnboarding(call, 'once');
    await expect(onboarding.run(DRAFT, () => undefined)).rejects.toThrow();
    await expect(onboarding.run(DRAFT, () => undefined)).rejects.toThrow();
    await onboarding.run(DRAFT, () => undefined);
    expect(onboarding.made()).toMatchObject({ owner: { id: 'user_lost' }, api_key: { secret: 'sk-2' } });
    expect(sent.filter((name) => name === OWNER || name === KEY)).toEqual([OWNER, KEY]);
  });
});

describe('the message to a new owner', () => {
  const facts = { organization: 'Acme', email: 'ada@acme.example', consoleUrl: 'https://c/console/', baseUrl: 'https://b/v1' };

  test('says where to sign in and how to get a key', () => {
    const text = welcomeOf({ ...facts, isPasswordMailed: true, hasKey: false });
    expect(text).toContain('Sign in at https://c/console/');
    expect(text).toContain('was emailed to you');
    expect(text).toContain('Create an API key there.');
  });

  test('announces a password and a key that come separately', () => {
    const text = welcomeOf({ ...facts, isPasswordMailed: false, hasKey: true });
    expect(text).toMatch(/password that you receive separately[\s\S]*first API key separately/);
  });
});

describe('the forms of an organization', () => {
  test('leave out the default concurrency, and send null for a limit that is not set', () => {
    const draft = draftOfLimits(ORGANIZATION);
    expect(draft).toEqual({ ...NO_LIMITS, tokensPerMinute: '1000', monthBudget: '12.5' });
    expect(limitsOf(draft)).toEqual({ requests_per_minute: null, tokens_per_minute: 1_000, month_budget: '12.5', prepaid: false });
    expect(draftOfLimits({ ...ORGANIZATION, has_default_concurrency: false }).concurrency).toBe('100');
  });

  test('name the fields that are no numbers', () => {
    expect(Object.keys(faultsOfLimits({ ...NO_LIMITS, concurrency: '-1', monthBudget: '1,5' }))).toEqual(['concurrency', 'monthBudget']);
  });

  test('send only what was changed', () => {
    const draft = { ...draftOfOrganization(ORGANIZATION), name: ' Acme Corporation ', storesNoContent: true };
    expect(changesOfOrganization(draft, ORGANIZATION)).toEqual({ name: 'Acme Corporation', no_content: true });
  });
});
