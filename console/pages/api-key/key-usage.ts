import type { ReplyBody } from '../../client/routes.ts';
import { formatDay } from '../../design/format/times.ts';
import { DAY_S } from '../../design/format/units.ts';

type UsageDay = ReplyBody<'GET /v1/api-keys/{id}/usage'>['days'][number];

/** The days of a range as `2026-11-26`, the first `days` - 1 days before the last. @param nowS in the last day */
export const rangeOfDays = (days: number, nowS: number): { from: string; to: string } => {
  return { from: formatDay(nowS - (days - 1) * DAY_S), to: formatDay(nowS) };
};

/** The days of a calendar month (UTC) until now. @param nowS Unix seconds */
export const rangeOfMonth = (nowS: number): { from: string; to: string } => {
  const to = formatDay(nowS);
  return { from: `${to.slice(0, -2)}01`, to };
};

const secondsOf = (day: string): number => Date.parse(day) / 1_000;

/** The requests of each day of a range, by model. Days without requests have zero. */
export const requestsByDay = (
  days: readonly Pick<UsageDay, 'day' | 'model' | 'requests'>[],
  { from, to }: { from: string; to: string },
): { times: number[]; series: { name: string; values: number[] }[] } => {
  const [first, last] = [secondsOf(from), secondsOf(to)];
  const times = Array.from({ length: Math.floor((last - first) / DAY_S) + 1 }, (_, i) => first + i * DAY_S);
  const models = [...new Set(days.map(({ model }) => model))].sort();
  const counts = new Map(days.map(({ day, model, requests }) => [`${model} ${secondsOf(day)}`, requests]));
  return { times, series: models.map((model) => ({ name: model, values: times.map((time) => counts.get(`${model} ${time}`) ?? 0) })) };
};
