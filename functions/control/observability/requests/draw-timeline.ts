import { requestTimeMs } from '../../../../shared/ids/request-id.ts';
import type { Rating } from './request-cost.ts';
import type { RequestDetail } from './request-detail.ts';

// The width of a terminal.
const COLUMNS = 100;
const NAME_COLUMNS = 13;
const DURATION_COLUMNS = 13;
const BAR_COLUMNS = COLUMNS - NAME_COLUMNS - DURATION_COLUMNS;
// Bounds the size of a timeline: longer texts of callers are cut.
const MAX_TEXT_CHARACTERS = 2_000;

const number = (value: number): string => value.toLocaleString('en-US');

// Callers choose some of the texts. Control characters and invisible ones could change what a terminal shows.
const printable = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);

const wrapped = (text: string, columns: number): string[] => {
  let rest = [...text];
  const lines: string[] = [];
  while (rest.length > columns) {
    const space = rest.lastIndexOf(' ', columns);
    const end = space > 0 ? space : columns;
    lines.push(rest.slice(0, end).join(''));
    rest = rest.slice(space > 0 ? end + 1 : end);
  }
  return [...lines, rest.join('')];
};

const row = (name: string, text: string): string[] => {
  const cut = text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS)}…` : text;
  return wrapped(printable(cut), COLUMNS - NAME_COLUMNS).map((line, i) => `${(i === 0 ? name : '').padEnd(NAME_COLUMNS)}${line}`);
};

// A bar shorter than a column is drawn thin.
const bar = (fromMs: number, toMs: number, wholeMs: number): string => {
  const column = (ms: number): number => Math.min(BAR_COLUMNS, Math.round((ms / Math.max(wholeMs, 1)) * BAR_COLUMNS));
  const [from, to] = [column(fromMs), column(toMs)];
  return to > from ? ' '.repeat(from) + '█'.repeat(to - from) : `${' '.repeat(Math.min(from, BAR_COLUMNS - 1))}▏`;
};

const barRow = (name: string, drawn: string, ms: number): string =>
  `${name.padEnd(NAME_COLUMNS)}${drawn.padEnd(BAR_COLUMNS)}${`${number(ms)} ms`.padStart(DURATION_COLUMNS)}`;

const bars = ({ phases, duration_ms }: RequestDetail): string[] => {
  const wholeMs = Math.max(duration_ms, phases.at(-1)?.to_ms ?? 0);
  const rows = phases.map(({ name, from_ms, to_ms }) => barRow(name.replaceAll('_', ' '), bar(from_ms, to_ms, wholeMs), to_ms - from_ms));
  return [...rows, barRow('total', '', duration_ms)];
};

const TOKENS = { input: 'input', cached_input: 'cached', output: 'output' } as const;

const ratingText = ({ price_version, rerate, charged, lines }: Rating, symbol: string): string => {
  const sum = lines
    ?.map(({ tokens, quantity, per_million }) => `${number(quantity)} ${TOKENS[tokens]} × ${symbol}${per_million}`)
    .join(' + ');
  const by = `${price_version === null ? '' : ` by ${price_version}`}${rerate === null ? '' : ` (rated again by ${rerate})`}`;
  return `${symbol}${charged}${by}${sum ? `: ${sum} per million` : ''}`;
};

const costRows = ({ cost: { total, ratings, is_capped, is_prepaid } }: RequestDetail, symbol: string): string[] => {
  const notes = `${is_capped ? ', limited to what was held' : ''}${is_prepaid ? ', prepaid' : ''}`;
  const texts = ratings.map((rating) => ratingText(rating, symbol));
  if (texts.length > 1) texts.push(`${symbol}${total} in all`);
  return texts.flatMap((text, i) => row(i === 0 ? 'cost' : '', i === texts.length - 1 ? text + notes : text));
};

const targetText = ({ endpoint, component, deployment, tries }: NonNullable<RequestDetail['target']>): string =>
  [endpoint, component, deployment, tries > 1 ? `${tries} tries` : null].filter((text) => text !== null).join(', ');

const modelText = (model: string, fallback: number | null): string => (fallback === null ? model : `${model}, fallback ${fallback}`);

const attemptText = ({ model, code, ms }: RequestDetail['attempts'][number]): string => `${model}: ${code} after ${number(ms)} ms`;

const leftText = (left: Record<string, number | undefined>): string[] => {
  const texts = Object.entries(left).flatMap(([name, amount]) => (amount === undefined ? [] : `${number(amount)} ${name}`));
  return texts.length > 0 ? [`${texts.join(' and ')} left in the minute`] : [];
};

const limiterText = ({ in_flight, concurrency, requests_left, tokens_left }: NonNullable<RequestDetail['limiter']>): string =>
  [
    `${number(in_flight)}${concurrency === undefined ? '' : ` of ${number(concurrency)}`} in flight`,
    ...leftText({ requests: requests_left, tokens: tokens_left }),
  ].join('; ');

const usageText = ({ input_tokens, cached_tokens, output_tokens, source }: RequestDetail['usage']): string =>
  `${number(input_tokens)} input tokens (${number(cached_tokens)} cached), ${number(output_tokens)} output tokens${source === 'estimated' ? ', counted by Sluice' : ''}`;

/**
 * Draws a request for a terminal: its phases as bars, then its other facts. At most 100 columns.
 * @param symbol of the currency
 */
export const drawTimeline = (request: RequestDetail, symbol: string): string => {
  const { attempts, error, target, limiter, ignored, trace, metadata } = request;
  const optional = (name: string, text: string | null): string[] => (text === null || text === '' ? [] : row(name, text));
  const title = [request.id, request.outcome, request.status === null ? null : `status ${request.status}`];
  return [
    ...wrapped(printable(title.filter((text) => text !== null).join('  ')), COLUMNS),
    '',
    ...bars(request),
    '',
    ...row('arrived', `${new Date(requestTimeMs(request.id)).toISOString().replace('T', ' ').replace('Z', '')} UTC`),
    ...optional('route', request.route && `${request.route}${request.stream ? ', streamed' : ''}`),
    ...optional('model', request.model && modelText(request.model, request.fallback)),
    ...attempts.flatMap((attempt, i) => row(i === 0 ? 'failed' : '', attemptText(attempt))),
    ...optional('target', target && targetText(target)),
    ...row('API key', `${request.api_key_id} of ${request.organization}`),
    ...optional('limits', limiter && limiterText(limiter)),
    ...row('usage', usageText(request.usage)),
    ...costRows(request, symbol),
    ...optional('finished by', request.finish_reason),
    ...optional('error', error && [error.status, error.code, error.message].filter((part) => part !== null).join(' ')),
    ...optional('ignored', ignored.join(', ')),
    ...optional('trace', trace?.trace_id ?? null),
    ...optional('user', request.user),
    ...optional('user id', request.user_id),
    ...optional('metadata', metadata && JSON.stringify(metadata)),
    '',
  ].join('\n');
};
