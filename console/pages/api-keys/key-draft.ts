import type { ReplyBody, RequestBody } from '../../client/routes.ts';
import { faultOfMoney } from '../../design/format/amounts.ts';
import { faultsOfCounts } from '../../design/format/limits.ts';
import { namesOrNull } from '../../design/format/lists.ts';

export type ApiKey = ReplyBody<'GET /v1/api-keys/{id}'>;
type NewApiKey = RequestBody<'POST /v1/api-keys'>;
type ApiKeyChange = RequestBody<'PATCH /v1/api-keys/{id}'>;

/** The fields of a key as its forms edit them. An empty text stands for no value or, in a new key, for the default. */
export type KeyDraft = {
  name: string;
  /** Names with commas between them; empty: all models. */
  models: string;
  requestsPerMinute: string;
  tokensPerMinute: string;
  concurrency: string;
  /** Dollars. */
  day: string;
  month: string;
  total: string;
  /** The limits of each end user; the budget in dollars. */
  userRequestsPerMinute: string;
  userTokensPerMinute: string;
  userConcurrency: string;
  userMonth: string;
  /** The id of a project. */
  project: string;
  /** A time in the reader's zone as its field has it, such as `2026-11-26T09:30`. */
  expires: string;
  noContent: boolean;
  noFallback: boolean;
};

export const KEY_LABELS = {
  name: 'Name',
  models: 'Models',
  requestsPerMinute: 'Requests per minute',
  tokensPerMinute: 'Tokens per minute',
  concurrency: 'Concurrent requests',
  day: 'Budget per day',
  month: 'Budget per month',
  total: 'Total budget',
  userRequestsPerMinute: 'Requests per minute per user',
  userTokensPerMinute: 'Tokens per minute per user',
  userConcurrency: 'Concurrent requests per user',
  userMonth: 'Budget per month per user',
  project: 'Project',
  expires: 'Expires',
  noContent: "Don't store content",
  noFallback: 'Disable fallbacks',
} as const satisfies Record<keyof KeyDraft, string>;

const LIMITS = {
  requests_per_minute: 'requestsPerMinute',
  tokens_per_minute: 'tokensPerMinute',
  concurrency: 'concurrency',
} as const;
const BUDGETS = ['day', 'month', 'total'] as const;
const USER_LIMITS = {
  requests_per_minute: 'userRequestsPerMinute',
  tokens_per_minute: 'userTokensPerMinute',
  concurrency: 'userConcurrency',
} as const;
const USER_FIELDS = [...Object.values(USER_LIMITS), 'userMonth'] as const;

export const EMPTY_DRAFT: KeyDraft = {
  name: '',
  models: '',
  requestsPerMinute: '',
  tokensPerMinute: '',
  concurrency: '',
  day: '',
  month: '',
  total: '',
  userRequestsPerMinute: '',
  userTokensPerMinute: '',
  userConcurrency: '',
  userMonth: '',
  project: '',
  expires: '',
  noContent: false,
  noFallback: false,
};

const pad = (part: number): string => String(part).padStart(2, '0');

/** The text of a time field. @param seconds since the epoch; null: an empty field */
export const toTimeField = (seconds: number | null): string => {
  if (seconds === null) return '';
  const time = new Date(seconds * 1_000);
  const date = `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}`;
  return `${date}T${pad(time.getHours())}:${pad(time.getMinutes())}`;
};

const fromTimeField = (text: string): number | null => (text === '' ? null : Math.floor(new Date(text).getTime() / 1_000));

const textOf = (limit: number | null | undefined): string => (limit == null ? '' : String(limit));

// Empty fields are no limits; null: all of them are empty.
const userLimitsOf = (draft: KeyDraft): NewApiKey['per_user'] => {
  if (USER_FIELDS.every((name) => draft[name] === '')) return null;
  const rates = Object.entries(USER_LIMITS).map(([field, name]) => [field, draft[name] === '' ? null : Number(draft[name])] as const);
  return { ...Object.fromEntries(rates), monthly_budget: draft.userMonth || null };
};

/** A key as its form edits it. */
export const draftOfKey = (key: ApiKey): KeyDraft => {
  const { name, models, limits, budgets, per_user, project_id, expires_at, no_content, no_fallback } = key;
  return {
    name,
    models: models?.join(', ') ?? '',
    requestsPerMinute: String(limits.requests_per_minute),
    tokensPerMinute: String(limits.tokens_per_minute),
    concurrency: String(limits.concurrency),
    day: budgets.day ?? '',
    month: budgets.month ?? '',
    total: budgets.total ?? '',
    userRequestsPerMinute: textOf(per_user?.requests_per_minute),
    userTokensPerMinute: textOf(per_user?.tokens_per_minute),
    userConcurrency: textOf(per_user?.concurrency),
    userMonth: per_user?.monthly_budget ?? '',
    project: project_id ?? '',
    noFallback: no_fallback,
    expires: toTimeField(expires_at),
    noContent: no_content,
  };
};

const emptyLimits = (draft: KeyDraft): Partial<Record<keyof KeyDraft, string>> =>
  Object.fromEntries(Object.values(LIMITS).flatMap((name) => (draft[name] === '' ? [[name, 'Enter a whole number.']] : [])));

/** Why fields can't be sent. @param isNew true: an empty limit stands for the default */
export const faultsOf = (draft: KeyDraft, isNew = true): Partial<Record<keyof KeyDraft, string>> => ({
  ...(!isNew && emptyLimits(draft)),
  ...faultsOfCounts(draft, LIMITS),
  ...faultsOfCounts(draft, USER_LIMITS),
  ...Object.fromEntries(
    [...BUDGETS, 'userMonth' as const].flatMap((name) => {
      const fault = faultOfMoney(draft[name], '12.50');
      return fault === undefined ? [] : [[name, fault]];
    }),
  ),
});

/** The body that creates a key. Empty limits and budgets are left out. */
export const newKeyOf = (draft: KeyDraft, scope: ApiKey['scope'], organization: string | undefined): NewApiKey => {
  const limits = Object.entries(LIMITS).filter(([, name]) => draft[name] !== '');
  const budgets = BUDGETS.filter((name) => draft[name] !== '');
  return {
    name: draft.name.trim(),
    scope,
    models: namesOrNull(draft.models),
    expires_at: fromTimeField(draft.expires),
    no_content: draft.noContent,
    ...(draft.noFallback && { no_fallback: true }),
    ...(draft.project && { project_id: draft.project }),
    ...(userLimitsOf(draft) && { per_user: userLimitsOf(draft) }),
    ...(organization && { organization }),
    ...(limits.length > 0 && { limits: Object.fromEntries(limits.map(([field, name]) => [field, Number(draft[name])])) }),
    ...(budgets.length > 0 && { budgets: Object.fromEntries(budgets.map((name) => [name, draft[name]])) }),
  };
};

/** The body that changes a key: only what differs from it. */
export const changesOfKey = (draft: KeyDraft, key: ApiKey): ApiKeyChange => {
  const opened = draftOfKey(key);
  const differs = (name: keyof KeyDraft): boolean => draft[name] !== opened[name];
  const limits = Object.entries(LIMITS).filter(([, name]) => differs(name) && draft[name] !== '');
  const budgets = BUDGETS.filter(differs);
  return {
    ...(differs('name') && { name: draft.name.trim() }),
    ...(differs('models') && { models: namesOrNull(draft.models) }),
    ...(differs('expires') && { expires_at: fromTimeField(draft.expires) }),
    ...(differs('noContent') && { no_content: draft.noContent }),
    ...(differs('noFallback') && { no_fallback: draft.noFallback }),
    ...(differs('project') && { project_id: draft.project || null }),
    ...(USER_FIELDS.some(differs) && { per_user: userLimitsOf(draft) }),
    ...(limits.length > 0 && { limits: Object.fromEntries(limits.map(([field, name]) => [field, Number(draft[name])])) }),
    ...(budgets.length > 0 && { budgets: Object.fromEntries(budgets.map((name) => [name, draft[name] || null])) }),
  };
};
