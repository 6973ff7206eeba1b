import type { ReplyBody } from '../../client/routes.ts';

type UsageDay = ReplyBody<'GET /v1/api-keys/{id}/usage'>['days'][number];

const DAY_MS = 86_400_000;

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The days of a range as `2026-11-26`, the first `days` - 1 days before the last. @param nowMs in the last day */
export const rangeOfDays = (days: number, nowMs: number): { from: string; to: string } => {
  return { from: dayOf(nowMs - (days - 1) * DAY_MS), to: dayOf(nowMs) };
};

/** The days of a calendar month (UTC) until now. */
export const rangeOfMonth = (nowMs: number): { from: string; to: string } => {
  const to = dayOf(nowMs);
  return { from: `${to.slice(0, -2)}01`, to };
};

/** The requests of each day of a range, by model. Days without requests have zero. */
export const requestsByDay = (
  days: readonly Pick<UsageDay, 'day' | 'model' | 'requests'>[],
  { from, to }: { from: string; to: string },
): { times: number[]; series: { name: string; values: number[] }[] } => {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  const times = Array.from({ length: Math.floor((last - first) / DAY_MS) + 1 }, (_, i) => (first + i * DAY_MS) / 1_000);
  const models = [...new Set(days.map(({ model }) => model))].sort();
  const counts = new Map(days.map(({ day, model, requests }) => [`${model} ${Date.parse(day) / 1_000}`, requests]));
  return { times, series: models.map((model) => ({ name: model, values: times.map((time) => counts.get(`${model} ${time}`) ?? 0) })) };
};
