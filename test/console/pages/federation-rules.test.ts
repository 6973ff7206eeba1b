import { describe, expect, test } from '@jest/globals';
import { workflowsOf } from '../../../console/pages/federation-rule/workflow.ts';
import {
  changesOfRule,
  claimsOfJob,
  draftOfRule,
  emptyRule,
  type FederationRule,
  faultsOfRule,
  GITHUB_ISSUER,
  newRuleOf,
} from '../../../console/pages/federation-rules/rule-draft.ts';

const AUDIENCE = 'https://control.example.com';
const api_key = {
  scope: 'serverless',
  models: ['qwen3-8b'],
  limits: { requests_per_minute: 600, tokens_per_minute: 200_000, concurrency: 32 },
  budgets: { total: '5' },
  lifetime_seconds: 90,
} as const;
const rule: FederationRule = {
  id: 'fed_1',
  object: 'federation_rule',
  service_account: 'user_1',
  description: null,
  issuer: GITHUB_ISSUER,
  audience: AUDIENCE,
  subject: null,
  claims: { repository_id: '1', ref: 'refs/heads/main' },
  api_key: null,
  status: 'active',
  created_at: 1,
  updated_at: 1,
  version: 1,
};

describe('the form of a federation rule', () => {
  test('makes claims of the fields of a GitHub job, without the empty ones', () => {
    const claims = claimsOfJob({ repositoryId: '1', ref: 'refs/heads/main', environment: '' });
    expect(newRuleOf({ ...emptyRule(AUDIENCE), claims }, GITHUB_ISSUER)).toEqual({
      issuer: GITHUB_ISSUER,
      audience: AUDIENCE,
      subject: null,
      claims: { repository_id: '1', ref: 'refs/heads/main' },
      description: null,
      api_key: null,
    });
  });

  test('keeps equals signs in values, and says which line is no claim', () => {
    const draft = { ...emptyRule(AUDIENCE), claims: 'email = a=b\n\n https://x/y=z ' };
    expect(newRuleOf(draft, 'https://x').claims).toEqual({ email: 'a=b', 'https://x/y': 'z' });
    expect(faultsOfRule(draft)).toEqual({});
    expect(faultsOfRule({ ...draft, claims: 'repository_id 1' })).toHaveProperty('claims');
  });

  test('sends the settings of keys whole, and null to end the keys', () => {
    const withKeys: FederationRule = { ...rule, api_key: { ...api_key, models: [...api_key.models] } };
    expect(changesOfRule(draftOfRule(withKeys), withKeys)).toEqual({});
    expect(changesOfRule({ ...draftOfRule(withKeys), keyBudget: '' }, withKeys)).toEqual({
      api_key: { ...api_key, budgets: { total: null } },
    });
    expect(changesOfRule({ ...draftOfRule(withKeys), givesKeys: false }, withKeys)).toEqual({ api_key: null });
  });

  test('checks the settings of keys only if the rule gives keys', () => {
    const draft = { ...emptyRule(AUDIENCE), keyConcurrency: 'x', keySeconds: '59', keyBudget: '-1' };
    expect(faultsOfRule(draft)).toEqual({});
    expect(Object.keys(faultsOfRule({ ...draft, givesKeys: true })).sort()).toEqual(['keyBudget', 'keyConcurrency', 'keySeconds']);
  });
});

describe('the workflow of a federation rule', () => {
  const job = { controlUrl: AUDIENCE, rule, baseUrl: 'https://api.example.com/v1' };

  test('asks GitHub for a token only in workflows of GitHub', () => {
    const [[name, code] = ['', '']] = workflowsOf({ ...job, wantsKey: false });
    expect([name, code.includes('ACTIONS_ID_TOKEN_REQUEST_URL'), code.includes('requested_token_type')]).toEqual([
      'GitHub Actions',
      true,
      false,
    ]);
    expect(workflowsOf({ ...job, rule: { ...rule, issuer: 'https://gitlab.com' }, wantsKey: false }).map(([one]) => one)).toEqual([
      'Shell',
    ]);
  });

  test('asks for an API key if the rule gives keys, and hides it in the log', () => {
    const [[, code] = ['', '']] = workflowsOf({ ...job, wantsKey: true });
    expect(code).toContain('requested_token_type=urn:sluice:params:oauth:token-type:api_key');
    expect(code).toContain('::add-mask::$API_KEY');
  });
});
