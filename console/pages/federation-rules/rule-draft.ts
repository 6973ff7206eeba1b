import type { ReplyBody, RequestBody } from '../../client/routes.ts';
import { faultOfMoney } from '../../design/format/amounts.ts';
import { faultsOfCounts } from '../../design/format/limits.ts';
import { linesIn, namesOrNull } from '../../design/format/lists.ts';

export type FederationRule = ReplyBody<'GET /v1/service-accounts/{id}/federation-rules/{rule}'>;
type NewRule = RequestBody<'POST /v1/service-accounts/{id}/federation-rules'>;
type RuleChange = RequestBody<'PATCH /v1/service-accounts/{id}/federation-rules/{rule}'>;
type KeySettings = NonNullable<NewRule['api_key']>;

/** The fields of a rule as its forms edit them. */
export type RuleDraft = {
  description: string;
  audience: string;
  subject: string;
  /** A line for each claim: `name = value`. */
  claims: string;
  givesKeys: boolean;
  keyScope: 'serverless' | 'on_demand';
  /** Names with commas between them; empty: all models. */
  keyModels: string;
  /** Empty: the default. */
  keyRequestsPerMinute: string;
  keyTokensPerMinute: string;
  keyConcurrency: string;
  /** Dollars; empty: no limit. */
  keyBudget: string;
  keySeconds: string;
};

export const RULE_LABELS = {
  description: 'Description',
  audience: 'Audience',
  subject: 'Subject',
  claims: 'Claims',
  givesKeys: 'Jobs can get an API key',
  keyScope: 'Key scope',
  keyModels: 'Models',
  keyRequestsPerMinute: 'Requests per minute',
  keyTokensPerMinute: 'Tokens per minute',
  keyConcurrency: 'Concurrent requests',
  keyBudget: 'Budget per key',
  keySeconds: 'Key lifetime (seconds)',
} as const satisfies Record<keyof RuleDraft, string>;

/** The fields of a rule for a job of GitHub Actions. */
export interface GitHubJob {
  repositoryId: string;
  ref: string;
  environment: string;
}

export const GITHUB_ISSUER = 'https://token.actions.githubusercontent.com';

const MIN_SECONDS = 60;
const MAX_SECONDS = 3_600;
const LIMITS = {
  requests_per_minute: 'keyRequestsPerMinute',
  tokens_per_minute: 'keyTokensPerMinute',
  concurrency: 'keyConcurrency',
} as const;
const KEY_FIELDS = ['givesKeys', 'keyScope', 'keyModels', ...Object.values(LIMITS), 'keyBudget', 'keySeconds'] as const;

/** A rule that is not created yet. @param audience the URL of the control plane */
export const emptyRule = (audience: string): RuleDraft => ({
  description: '',
  audience,
  subject: '',
  claims: '',
  givesKeys: false,
  keyScope: 'serverless',
  keyModels: '',
  keyRequestsPerMinute: '',
  keyTokensPerMinute: '',
  keyConcurrency: '',
  keyBudget: '',
  keySeconds: '3600',
});

/** The claims of a job as lines. */
export const claimsOfJob = ({ repositoryId, ref, environment }: GitHubJob): string =>
  [
    ['repository_id', repositoryId],
    ['ref', ref],
    ['environment', environment],
  ]
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name} = ${value}`)
    .join('\n');

const CLAIM = /^([^=]*[^=\s])\s*=\s*(\S.*)$/;

const claimsIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    linesIn(text).map((line) => {
      const [, name = line, value = ''] = CLAIM.exec(line) ?? [];
      return [name, value];
    }),
  );

const isLifetime = (text: string): boolean => /^\d+$/.test(text) && Number(text) >= MIN_SECONDS && Number(text) <= MAX_SECONDS;

const keyFaults = (draft: RuleDraft): Partial<Record<keyof RuleDraft, string>> => {
  const budgetFault = faultOfMoney(draft.keyBudget, '5');
  return {
    ...faultsOfCounts(draft, LIMITS),
    ...(budgetFault && { keyBudget: budgetFault }),
    ...(!isLifetime(draft.keySeconds) && { keySeconds: `Enter ${MIN_SECONDS} to ${MAX_SECONDS} seconds.` }),
  };
};

/** Why fields can't be sent. */
export const faultsOfRule = (draft: RuleDraft): Partial<Record<keyof RuleDraft, string>> => {
  const wrong = linesIn(draft.claims).find((line) => !CLAIM.test(line));
  return { ...(wrong !== undefined && { claims: `Write “${wrong}” as name = value.` }), ...(draft.givesKeys && keyFaults(draft)) };
};

const keySettingsIn = (draft: RuleDraft): KeySettings | null => {
  if (!draft.givesKeys) return null;
  const limits = Object.entries(LIMITS).filter(([, name]) => draft[name] !== '');
  return {
    scope: draft.keyScope,
    models: namesOrNull(draft.keyModels),
    lifetime_seconds: Number(draft.keySeconds),
    budgets: { total: draft.keyBudget || null },
    ...(limits.length > 0 && { limits: Object.fromEntries(limits.map(([field, name]) => [field, Number(draft[name])])) }),
  };
};

/** The body that creates a rule. */
export const newRuleOf = (draft: RuleDraft, issuer: string): NewRule => ({
  issuer: issuer.trim(),
  audience: draft.audience.trim(),
  subject: draft.subject.trim() || null,
  claims: claimsIn(draft.claims),
  description: draft.description.trim() || null,
  api_key: keySettingsIn(draft),
});

/** A rule as its form edits it. */
export const draftOfRule = ({ description, audience, subject, claims, api_key }: FederationRule): RuleDraft => ({
  ...emptyRule(audience),
  description: description ?? '',
  subject: subject ?? '',
  claims: Object.entries(claims)
    .map(([name, value]) => `${name} = ${value}`)
    .join('\n'),
  ...(api_key && {
    givesKeys: true,
    keyScope: api_key.scope,
    keyModels: api_key.models?.join(', ') ?? '',
    keyRequestsPerMinute: String(api_key.limits.requests_per_minute),
    keyTokensPerMinute: String(api_key.limits.tokens_per_minute),
    keyConcurrency: String(api_key.limits.concurrency),
    keyBudget: api_key.budgets.total ?? '',
    keySeconds: String(api_key.lifetime_seconds),
  }),
});

/** The body that changes a rule: only what differs from it. The settings of its keys are sent together. */
export const changesOfRule = (draft: RuleDraft, rule: FederationRule): RuleChange => {
  const opened = draftOfRule(rule);
  const differs = (name: keyof RuleDraft): boolean => draft[name] !== opened[name];
  return {
    ...(differs('description') && { description: draft.description.trim() || null }),
    ...(differs('audience') && { audience: draft.audience.trim() }),
    ...(differs('subject') && { subject: draft.subject.trim() || null }),
    ...(differs('claims') && { claims: claimsIn(draft.claims) }),
    ...(KEY_FIELDS.some(differs) && { api_key: keySettingsIn(draft) }),
  };
};
