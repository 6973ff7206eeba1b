import type { Deployment } from './deployment-state.ts';

/** A time of the week in which a deployment doesn't sleep. */
export type DeploymentWindow = Deployment['schedule'][number];
type Day = DeploymentWindow['days'][number];

const DAYS: readonly Day[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

// `mon-fri,sun` for the days from Monday to Friday, and Sunday.
const textOfDays = (days: readonly Day[]): string => {
  const spans: { first: number; last: number }[] = [];
  for (const index of DAYS.keys()) {
    const day = DAYS[index];
    if (!day || !days.includes(day)) continue;
    const span = spans.at(-1);
    if (span?.last === index - 1) span.last = index;
    else spans.push({ first: index, last: index });
  }
  return spans.map(({ first, last }) => (first === last ? DAYS[first] : `${DAYS[first]}-${DAYS[last]}`)).join(',');
};

const daysIn = (text: string): Day[] | undefined => {
  const chosen = new Set<Day>();
  for (const span of text.toLowerCase().split(',')) {
    const [first = '', last = first, ...others] = span.split('-');
    const [from, to] = [DAYS.indexOf(first as Day), DAYS.indexOf(last as Day)];
    if (from < 0 || to < from || others.length > 0) return undefined;
    for (const day of DAYS.slice(from, to + 1)) chosen.add(day);
  }
  return [...chosen];
};

const LINE = /^(\S+)\s+(\d\d:\d\d)-(\d\d:\d\d)\s+([A-Za-z]\S*)(?:\s+([1-9]\d{0,2}))?$/;

/** The windows in lines such as `mon-fri 08:00-18:00 Europe/Berlin 2`; undefined if a line is none. */
export const windowsIn = (text: string): DeploymentWindow[] | undefined => {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const windows = lines.map((line): DeploymentWindow | undefined => {
    const [, names = '', from = '', to = '', time_zone = '', copies = '1'] = LINE.exec(line) ?? [];
    const days = daysIn(names);
    return days && { days, from, to, time_zone, min_copies: Number(copies) };
  });
  return windows.includes(undefined) ? undefined : windows.filter((window) => window !== undefined);
};

/** Windows as such lines. */
export const linesOfWindows = (windows: readonly DeploymentWindow[]): string =>
  windows
    .map(({ days, from, to, time_zone, min_copies }) => [textOfDays(days), `${from}-${to}`, time_zone, min_copies].join(' '))
    .join('\n');

/** Shown beside lines that are no windows, and as their help. */
export const WINDOWS_FAULT = 'Enter one window per line, such as mon-fri 08:00-18:00 Europe/Berlin 1.';
export const WINDOWS_HINT = 'One per line: days, times, time zone and minimum copies, such as mon-fri 08:00-18:00 Europe/Berlin 1.';
