import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Exchange, exchange } from '../bench/lib/exchange.ts';
import { type Bound, keepInFlight } from '../bench/lib/keep-in-flight.ts';
import type { Account } from './accounts.ts';
import { type Checked, checkReply, type Sent } from './check-reply.ts';
import { type Fault, faultIf } from './faults.ts';
import { createMeter, type Measured } from './meter.ts';
import { bodyOf, invokesModel, isStored, type Question, routes } from './question.ts';

const SILENCE_MS = 60_000;
// One of so many streams is left by its caller at its first token; one of so many requests is sent three times.
const CUT_EVERY = 23;
const REPEAT_EVERY = 29;
const MAX_BACKOFF_MS = 1_000;
const IN_PROGRESS = 'idempotency_in_progress';
const NOT_STORED = 'idempotent_result_not_stored';

interface Load {
  baseUrl: string;
  questions: readonly Question[];
  /** The account of each caller. */
  accounts: readonly Account[];
  bound: Bound;
  rampMs: number;
  /** Called after each reply with the number of replies so far. */
  onReply: (replies: number) => void;
}

export interface LoadResult {
  sent: Sent[];
  faults: Fault[];
  measured: Measured;
}

interface Sending {
  question: Question;
  account: Account;
  nonce: string;
  idempotencyKey?: string;
  disconnects?: boolean;
}

const lost = ({ question, account, nonce }: Sending, error: unknown): Checked => ({
  sent: {
    nonce,
    route: question.route,
    keyId: account.keyId,
    ending: 'lost',
    requestId: undefined,
    isAdmitted: false,
    tokens: undefined,
    expected: undefined,
  },
  faults: [{ kind: 'lost', detail: `${question.route}: ${error}` }],
});

/** Sends the load from all callers at once and checks each reply when it arrives. */
export const sendLoad = async ({ baseUrl, questions, accounts, bound, rampMs, onReply }: Load): Promise<LoadResult> => {
  const agent = new Agent({ keepAlive: true, maxSockets: accounts.length * 2 });
  const result = { sent: [] as Sent[], faults: [] as Fault[] };
  const meter = createMeter();

  const send = (asking: Sending): Promise<Exchange> => {
    const { question, account, nonce, idempotencyKey, disconnects = false } = asking;
    const { method, path } = routes[question.route];
    const body = bodyOf(question, nonce);
    const headers = {
      authorization: `Bearer ${account.secret}`,
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    };
    return exchange({ method, url: baseUrl + path, headers, disconnects, ...(body !== undefined && { body }) }, agent, SILENCE_MS);
  };

  const ask = async (asking: Sending, refusals = asking.account.refusals): Promise<Checked & { reply?: Exchange }> => {
    const { question, account, nonce } = asking;
    let reply: Exchange | undefined;
    let checked: Checked;
    try {
      reply = await meter.during(question, () => send(asking));
      checked = checkReply({ question, nonce, keyId: account.keyId, refusals }, reply);
      if (checked.sent.ending === 'served' && invokesModel(question.route)) meter.add(question, reply, question.expected.tokens.completion);
    } catch (error) {
      checked = lost(asking, error);
    }
    result.sent.push(checked.sent);
    result.faults.push(...checked.faults);
    onReply(result.sent.length);
    return { ...checked, ...(reply && { reply }) };
  };

  /** Sends a request and its twin at once, then again: all that get a reply must get that of the same request. */
  const repeat = async (asking: Sending): Promise<void> => {
    const keyed = { ...asking, idempotencyKey: asking.nonce };
    const refusals = [...asking.account.refusals, ...(isStored(asking.question) ? [] : [NOT_STORED])];
    const asTwin = () => ask(keyed, [...refusals, IN_PROGRESS]);
    const twins = await Promise.all([asTwin(), asTwin()]);
    const replies = [...twins, await ask(keyed, refusals)].filter(({ sent }) => sent.ending === 'served' || sent.ending === 'repeated');
    const ids = new Set(replies.map(({ sent }) => sent.requestId));
    const firsts = replies.filter(({ sent }) => sent.ending === 'served').length;
    const isWrong = replies.length > 0 && (ids.size !== 1 || firsts !== 1);
    result.faults.push(...faultIf(isWrong, 'unexplained', `one idempotency key, ${firsts} replies that are billed: ${[...ids]}`));
  };

  const callersFree = [...accounts];
  const elapsedMs = await keepInFlight(
    accounts.length,
    bound,
    async (number) => {
      const account = callersFree.shift() as Account;
      const question = questions[number % questions.length] as Question;
      const asking = { question, account, nonce: randomUUID() };
      if (invokesModel(question.route) && number % REPEAT_EVERY === 0) await repeat(asking);
      else {
        const { sent, reply } = await ask({ ...asking, disconnects: question.isStream && number % CUT_EVERY === 0 });
        if (sent.ending === 'refused') await delay(Math.min(MAX_BACKOFF_MS, Number(reply?.headers['retry-after'] ?? 1) * 1_000));
      }
      callersFree.push(account);
    },
    rampMs,
  );
  agent.destroy();
  return { ...result, measured: meter.result(elapsedMs) };
};
