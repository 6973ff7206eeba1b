import type { ReplyBody, RequestBody } from '../../client/routes.ts';
import { formatMoney } from '../../design/format/amounts.ts';
import { formatStart, utcSeconds } from '../../design/format/times.ts';

export type Rerate = ReplyBody<'GET /v1/billing/rerates/{id}'>;

/** The form of a new rerate. */
export interface RerateDraft {
  kind: 'model' | 'instance_type';
  /** The name of the model, or the id of the instance type. */
  subject: string;
  /** Empty: all. */
  organization: string;
  fromVersion: string;
  toVersion: string;
  /** UTC times. */
  start: string;
  end: string;
  reason: string;
}

export const EMPTY_RERATE: RerateDraft = {
  kind: 'model',
  subject: '',
  organization: '',
  fromVersion: '',
  toVersion: '',
  start: '',
  end: '',
  reason: '',
};

/** True for a draft that can be sent. */
export const isCompleteRerate = ({ subject, fromVersion, toVersion, start, end, reason }: RerateDraft): boolean => {
  const [startS, endS] = [utcSeconds(start), utcSeconds(end)];
  const hasTimes = startS !== undefined && endS !== undefined && startS < endS;
  return subject !== '' && fromVersion !== '' && toVersion !== '' && fromVersion !== toVersion && hasTimes && reason.trim() !== '';
};

/** The body that previews a rerate, and changes nothing. */
export const previewOf = (draft: RerateDraft): RequestBody<'POST /v1/billing/rerates'> => ({
  ...(draft.kind === 'model' ? { model: draft.subject } : { instance_type: draft.subject }),
  ...(draft.organization !== '' && { organization: draft.organization }),
  from_version: draft.fromVersion,
  to_version: draft.toVersion,
  start_time: utcSeconds(draft.start) ?? 0,
  end_time: utcSeconds(draft.end) ?? 0,
  reason: draft.reason.trim(),
  dry_run: true,
});

type Price = ReplyBody<'GET /v1/prices'>['data'][number];
type InstancePrice = NonNullable<ReplyBody<'GET /v1/instance-types/{id}'>['prices']>[number];
type Choice = readonly [version: string, label: string];

/** A price version of a model as a choice. */
export const choiceOfPrice = ({ id, effective_at, per_million: { prompt, completion }, organization }: Price): Choice => [
  id,
  `${formatMoney(prompt)} in, ${formatMoney(completion)} out, from ${formatStart(effective_at)}${organization === null ? '' : ' (own model)'}`,
];

/** A price version of an instance type as a choice. */
export const choiceOfInstancePrice = ({ version, per_hour, effective_at }: InstancePrice): Choice => [
  version,
  `${formatMoney(per_hour)} per hour, from ${formatStart(effective_at)}`,
];

/** The phase of a rerate that counts: its execution, or else its preview. */
export const phaseOf = ({ preview, execution }: Rerate) => execution ?? preview;

/** True while a rerate works in the background. */
export const isWorking = ({ state }: Pick<Rerate, 'state'>): boolean => state === 'previewing' || state === 'executing';

/** A difference with its sign and currency, such as `+$1.20`. */
export const formatDifference = (difference: string): string => {
  const isNegative = difference.startsWith('-');
  const text = formatMoney(difference.replace(/^-/, ''));
  return isNegative ? `−${text}` : /[1-9]/.test(difference) ? `+${text}` : text;
};
