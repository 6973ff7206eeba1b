import type { ReplyBody, RequestBody } from '../../client/routes.ts';

export type Alias = ReplyBody<'GET /v1/model-aliases/{alias+}'>;
type AliasBody = RequestBody<'PUT /v1/model-aliases/{alias+}'>;

const FALLBACKS = ['firstFallback', 'secondFallback', 'thirdFallback'] as const;
const SPLIT_NUMBERS = ['percent', 'maxErrorPercent', 'minRequests'] as const;

/** The settings of an alias as its forms edit them. Empty texts stand for none, or for the default. */
export type AliasDraft = {
  model: string;
  hasSplit: boolean;
  newModel: string;
} & Record<(typeof FALLBACKS)[number] | (typeof SPLIT_NUMBERS)[number], string>;

export const ALIAS_LABELS = {
  model: 'Model',
  firstFallback: 'First fallback',
  secondFallback: 'Second fallback',
  thirdFallback: 'Third fallback',
  hasSplit: 'Split callers between two models',
  newModel: 'New model',
  percent: 'Callers on the new model (%)',
  maxErrorPercent: 'Stop above error rate (%)',
  minRequests: 'Measured over the last requests',
} as const satisfies Record<keyof AliasDraft, string>;

export const EMPTY_ALIAS: AliasDraft = {
  model: '',
  firstFallback: '',
  secondFallback: '',
  thirdFallback: '',
  hasSplit: false,
  newModel: '',
  percent: '5',
  maxErrorPercent: '5',
  minRequests: '',
};

/** An alias as its form edits it. */
export const draftOfAlias = ({ model, fallbacks: [first = '', second = '', third = ''], split }: Alias): AliasDraft => ({
  model,
  firstFallback: first,
  secondFallback: second,
  thirdFallback: third,
  ...(split
    ? {
        hasSplit: true,
        newModel: split.model,
        percent: String(split.percent),
        maxErrorPercent: split.max_error_percent === null ? '' : String(split.max_error_percent),
        minRequests: String(split.min_requests),
      }
    : { hasSplit: false, newModel: '', percent: EMPTY_ALIAS.percent, maxErrorPercent: EMPTY_ALIAS.maxErrorPercent, minRequests: '' }),
});

/** The fields for fallbacks that a form shows: those with a name, and the next one. */
export const shownFallbacks = (draft: AliasDraft): readonly (typeof FALLBACKS)[number][] =>
  FALLBACKS.slice(0, FALLBACKS.findLastIndex((name) => draft[name] !== '') + 2);

const isWithin = (text: string, min: number, max: number): boolean => /^\d{1,6}$/.test(text) && Number(text) >= min && Number(text) <= max;

/** Why fields can't be sent. */
export const faultsOfAlias = ({
  hasSplit,
  percent,
  maxErrorPercent,
  minRequests,
}: AliasDraft): Partial<Record<keyof AliasDraft, string>> => {
  if (!hasSplit) return {};
  return {
    ...(!isWithin(percent, 1, 99) && { percent: 'Enter a whole number from 1 to 99.' }),
    ...(maxErrorPercent !== '' && !isWithin(maxErrorPercent, 1, 99) && { maxErrorPercent: 'Enter a whole number from 1 to 99.' }),
    ...(minRequests !== '' && !isWithin(minRequests, 10, 10_000) && { minRequests: 'Enter a whole number from 10 to 10,000.' }),
  };
};

export const isAliasComplete = (draft: AliasDraft): boolean =>
  draft.model.trim() !== '' && (!draft.hasSplit || draft.newModel.trim() !== '') && Object.keys(faultsOfAlias(draft)).length === 0;

const splitOf = ({ newModel, percent, maxErrorPercent, minRequests }: AliasDraft): NonNullable<AliasBody['split']> => ({
  model: newModel.trim(),
  percent: Number(percent),
  ...(maxErrorPercent !== '' && { max_error_percent: Number(maxErrorPercent) }),
  ...(minRequests !== '' && { min_requests: Number(minRequests) }),
});

/** The body that sets an alias. @param organization null: that of the user, or all for those of the platform */
export const aliasBodyOf = (draft: AliasDraft, organization: string | null): AliasBody => ({
  model: draft.model.trim(),
  fallbacks: FALLBACKS.map((name) => draft[name].trim()).filter(Boolean),
  ...(draft.hasSplit && { split: splitOf(draft) }),
  ...(organization !== null && { organization }),
});

/** The body that starts the stopped split of an alias again, and changes nothing else. */
export const restartBodyOf = (alias: Alias): AliasBody => {
  const { split, ...body } = aliasBodyOf(draftOfAlias(alias), alias.organization);
  return { ...body, ...(split && { split: { ...split, restart: true } }) };
};
