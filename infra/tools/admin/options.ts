import { readFileSync } from 'node:fs';
import os from 'node:os';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { NewApiKey } from '../../../functions/control/api-keys/api-key.ts';
import { OrganizationLimits } from '../../../functions/control/limits/limits.ts';
import { forTask } from '../../../functions/control/model-registry/model-task.ts';
import { NewCreditGrant } from '../../../functions/control/organizations/credit.ts';
import { NewMessage } from '../../../functions/control/tickets/ticket-resource.ts';
import type { TokenizerTexts } from '../../../functions/tokenizer/engine/loaded-tokenizer.ts';
import { InvalidRequest } from '../../../shared/http/errors.ts';
import { Email } from '../../../shared/identity/user.ts';
import { prefixes } from '../../../shared/ids/id.ts';
import { Model, ModelTask, Tokens } from '../../../shared/models/model.ts';
import { dollarsOf, nanosOf } from '../../../shared/prices/dollars.ts';
import { priceAt } from '../../../shared/prices/price.ts';
import { TicketStatus } from '../../../shared/tickets/ticket.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import { type AlarmName, isAlarmName } from '../../constructs/alarms/alarm-texts.ts';
import { rejectKeptByNpm } from '../kept-by-npm.ts';
import { checked, checkedOptions } from './checked.ts';
import { checkTokenizer } from './tokenizer-files.ts';
import { optionsOf, UsageError } from './usage.ts';
import { isRequest } from './why/why-request.ts';

const options = {
  file: { type: 'string' },
  tokenizer: { type: 'string' },
  'tokenizer-config': { type: 'string' },
  'chat-template': { type: 'string' },
  task: { type: 'string', default: 'generate' },
  org: { type: 'string' },
  'requests-per-minute': { type: 'string' },
  'tokens-per-minute': { type: 'string' },
  concurrency: { type: 'string' },
  'day-budget': { type: 'string' },
  'month-budget': { type: 'string' },
  'total-budget': { type: 'string' },
  prepaid: { type: 'boolean', default: false },
  'no-content': { type: 'boolean', default: false },
  'without-second-factor': { type: 'boolean', default: false },
  dollars: { type: 'string' },
  reason: { type: 'string' },
  actor: { type: 'string' },
  models: { type: 'string' },
  expires: { type: 'string' },
  day: { type: 'string' },
  'request-rows': { type: 'boolean', default: false },
  invoice: { type: 'string' },
  confirm: { type: 'string' },
  email: { type: 'string' },
  ticket: { type: 'string' },
  status: { type: 'string' },
  reply: { type: 'string' },
  note: { type: 'string' },
  resolve: { type: 'boolean', default: false },
  every: { type: 'string', default: '5' },
  once: { type: 'boolean', default: false },
  hours: { type: 'string', default: '3' },
  stack: { type: 'string', default: 'sluice-data' },
  local: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

interface Installation {
  stack: string;
  /** Uses the local run of this folder instead of the stack. */
  isLocal: boolean;
  /** The operator's name in the audit log. */
  actor: string;
}

export type Command = Installation &
  (
    | { command: 'publish-model'; model: Model; tokenizer: TokenizerTexts | undefined }
    | { command: 'register-tokenizer'; tokenizer: TokenizerTexts }
    | { command: 'create-key'; key: NewApiKey & { organization: string } }
    | { command: 'limit-organization'; organization: string; limits: OrganizationLimits }
    | { command: 'apply-default-limits' }
    | { command: 'grant-credit'; organization: string; grant: NewCreditGrant }
    | { command: 'balance'; organization: string }
    | { command: 'rebuild'; day: string | undefined; hasRequestRows: boolean }
    | { command: 'verify-invoice'; invoice: string }
    | { command: 'delete-data'; organization: string; isDeleting: boolean }
    | { command: 'bootstrap'; email: string; isExempt: boolean }
    | { command: 'tickets'; statuses: readonly TicketStatus[] | undefined; organization: string | undefined; desk: TicketTask | undefined }
    | { command: 'why'; subject: Subject; hours: number }
    | { command: 'top'; organization: string | undefined; everySeconds: number; isOnce: boolean }
  );

// The store increments the version. A model that generates no text has no output tokens.
const ModelInFile = Model.omit({ version: true }).extend({
  max_output_tokens: Tokens.optional(),
  default_output_tokens: Tokens.optional(),
});

const InvoiceId = z.string().startsWith(prefixes.invoice, `expected the id of an invoice, such as ${prefixes.invoice}…`);

/** The subject that `why` explains. */
export type Subject = { kind: 'alarm'; name: AlarmName } | { kind: 'request'; id: string };

const Hours = z.int().min(1).max(720);

const EverySeconds = z.number().min(2).max(60);

/** Parses and validates the command line. @throws UsageError, KeptByNpm */
export const readCommand = (args: readonly string[], nowMs: number): Command => {
  const { positionals, values, tokens } = parseStrictly(args);
  const [command, about] = positionals;
  const given = tokens.filter((token) => token.kind === 'option').map(({ name }) => name);
  if (command !== undefined) rejectUnused(command, positionals, given);
  const common = { stack: values.stack, isLocal: values.local, actor: actorOf(values) };
  if (command === 'publish-model') {
    if (!values.file) throw new UsageError('publish-model needs --file.');
    const model = { ...modelOf(checked(ModelInFile, readJson(values.file, nowMs), values.file), values.file), version: 1 };
    if (!priceAt(model.prices, nowMs))
      throw new UsageError(
        `${values.file} has no price in effect, so the model could not be called. Add one whose effective_at has passed.`,
      );
    return { command, ...common, model, tokenizer: readTokenizer(values, model.task) };
  }
  if (command === 'register-tokenizer') {
    const tokenizer = readTokenizer(values, checked(ModelTask, values.task, '--task'));
    if (!tokenizer) throw new UsageError('register-tokenizer needs --tokenizer.');
    return { command, ...common, tokenizer };
  }
  if (command === 'create-key') {
    const organization = organizationOf(values);
    const key = {
      name: 'operator',
      organization,
      scope: 'serverless',
      models: values.models?.split(',').map((name) => name.trim()) ?? null,
      limits: rateLimits(values),
      budgets: {
        day: dollars(values, 'day-budget') ?? null,
        month: dollars(values, 'month-budget') ?? null,
        total: dollars(values, 'total-budget') ?? null,
      },
      expires_at: null,
      ...expiryOf(values),
      no_content: values['no-content'],
    };
    return { command, ...common, key: { ...checkedOptions(NewApiKey, key), organization } };
  }
  if (command === 'limit-organization') {
    const limits = { ...rateLimits(values), month_budget: dollars(values, 'month-budget'), prepaid: values.prepaid };
    const organization = organizationOf(values);
    return { command, ...common, organization, limits: checkedOptions(OrganizationLimits, limits) };
  }
  if (command === 'apply-default-limits') return { command, ...common };
  if (command === 'grant-credit') {
    const grant = { amount: dollars(values, 'dollars'), reason: values.reason, ...expiryOf(values) };
    const organization = organizationOf(values);
    return { command, ...common, organization, grant: checkedOptions(NewCreditGrant, grant) };
  }
  if (command === 'bootstrap')
    return { command, ...common, email: checked(Email, values.email, '--email'), isExempt: values['without-second-factor'] };
  if (command === 'delete-data') {
    const organization = organizationOf(values);
    if (values.confirm !== undefined && values.confirm !== organization)
      throw new UsageError(`--confirm must be ${organization} to delete its data. Leave it out to see what would be deleted.`);
    return { command, ...common, organization, isDeleting: values.confirm !== undefined };
  }
  if (command === 'balance') return { command, ...common, organization: organizationOf(values) };
  if (command === 'rebuild') {
    const day = values.day === undefined ? undefined : checked(z.iso.date('expected a day, such as 2026-11-21'), values.day, '--day');
    if (day !== undefined && values['request-rows']) throw new UsageError('--request-rows is for all days. Leave out --day.');
    return { command, ...common, day, hasRequestRows: values['request-rows'] };
  }
  if (command === 'top') {
    const everySeconds = checked(EverySeconds, number(values.every), '--every');
    return { command, ...common, organization: optionalOrganizationOf(values), everySeconds, isOnce: values.once };
  }
  if (command === 'why') return { command, ...common, subject: subjectOf(about), hours: checked(Hours, number(values.hours), '--hours') };
  if (command === 'tickets') return { command, ...common, ...ticketsOf(values) };
  if (command === 'verify-invoice') return { command, ...common, invoice: checked(InvoiceId, values.invoice, '--invoice') };
  throw new UsageError(command ? `There is no command '${command}'.` : 'A command is missing.');
};

// Without an effect, an option such as a budget would look as if it had been set.
const rejectUnused = (command: string, positionals: readonly string[], given: readonly string[]): void => {
  const taken = optionsOf(command);
  if (taken === undefined) return;
  const unused = given.find((name) => !taken.has(name));
  if (unused !== undefined) throw new UsageError(`${command} has no option --${unused}.`);
  const surplus = positionals[command === 'why' ? 2 : 1];
  if (surplus !== undefined) throw new UsageError(`${command} doesn't take '${surplus}'.`);
};

// An empty name, such as that of an unset variable, would leave the audit log without one.
const actorOf = ({ actor }: { actor?: string | undefined }): string => {
  if (actor?.trim() === '') throw new UsageError('--actor is empty. Give a name, or leave the option out.');
  return actor ?? shellUser();
};

// A container can run as a user without a name.
const shellUser = (): string => {
  try {
    return os.userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
};

// Accepts the whole name that CloudWatch shows: the stack's name, the alarm's, then the part's.
const subjectOf = (about: string | undefined): Subject => {
  if (about === undefined) throw new UsageError('why needs the name of an alarm or the id of a request.');
  if (isRequest(about)) return { kind: 'request', id: about };
  const name = about.split('-').find(isAlarmName);
  if (name !== undefined) return { kind: 'alarm', name };
  throw new UsageError(`'${about}' is neither an alarm of docs/runbook.md nor the id of a request.`);
};

/** A change of a ticket, or none to only show it. */
export interface TicketTask {
  ticket: string;
  message: NewMessage | undefined;
  resolves: boolean;
}

const TicketId = z.string().startsWith(prefixes.ticket, `expected the id of a ticket, such as ${prefixes.ticket}…`);
const Statuses = z.array(TicketStatus).min(1);

const ticketsOf = ({ ticket, status, org, reply, note, resolve }: TicketValues) => {
  const organization = optionalOrganizationOf({ org });
  const statuses = status === undefined ? undefined : checked(Statuses, status.split(','), '--status');
  if (ticket === undefined) {
    if (reply !== undefined || note !== undefined || resolve) throw new UsageError('--ticket is missing.');
    return { statuses, organization, desk: undefined };
  }
  if (reply !== undefined && note !== undefined) throw new UsageError('Write a --reply or a --note, not both at once.');
  const body = reply ?? note;
  const visibility = note === undefined ? 'public' : 'internal';
  const message = body === undefined ? undefined : checked(NewMessage, { body, visibility }, note === undefined ? '--reply' : '--note');
  return { statuses, organization, desk: { ticket: checked(TicketId, ticket, '--ticket'), message, resolves: resolve } };
};
type TicketValues = { ticket?: string; status?: string; org?: string; reply?: string; note?: string; resolve: boolean };

// JavaScript reads other forms, such as 2027-1-1, in the shell's time zone.
const Moment = z.union([z.iso.date(), z.iso.datetime({ offset: true })], {
  error: 'expected a day in UTC, such as 2027-01-01, or a time with its zone, such as 2027-01-01T12:00:00Z',
});

const expiryOf = ({ expires }: { expires?: string | undefined }): { expires_at?: number } =>
  expires === undefined ? {} : { expires_at: Math.floor(Date.parse(checked(Moment, expires, '--expires')) / 1_000) };

// An empty text is NaN, not 0.
const number = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text.trim() || Number.NaN));

const rateLimits = (values: Partial<Record<'requests-per-minute' | 'tokens-per-minute' | 'concurrency', string | undefined>>) => ({
  requests_per_minute: number(values['requests-per-minute']),
  tokens_per_minute: number(values['tokens-per-minute']),
  concurrency: number(values.concurrency),
});

const organizationOf = ({ org }: { org?: string | undefined }): string => {
  if (!org) throw new UsageError('--org is missing.');
  return org;
};

// An empty id is an unset variable, and not all organizations.
const optionalOrganizationOf = ({ org }: { org?: string | undefined }): string | undefined =>
  org === undefined ? undefined : organizationOf({ org });

const dollars = <Name extends string>(values: Partial<Record<Name, string | undefined>>, name: Name): string | undefined => {
  const text = values[name];
  if (text === undefined) return undefined;
  const nanos = nanosOf(text.replace(/^-/, ''));
  if (nanos === undefined) throw new UsageError(`--${name} expects dollars with at most nine decimals, such as 12.50.`);
  return dollarsOf(text.startsWith('-') ? -nanos : nanos);
};

const parseStrictly = (args: readonly string[]) => {
  rejectKeptByNpm(options, args);
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true, tokens: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
};

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new UsageError(`${file} cannot be read.`);
  }
};

const readTokenizer = (
  files: { tokenizer?: string; 'tokenizer-config'?: string; 'chat-template'?: string },
  task: ModelTask,
): TokenizerTexts | undefined => {
  const { tokenizer, 'tokenizer-config': config, 'chat-template': chatTemplate } = files;
  if (!tokenizer) {
    if (config ?? chatTemplate) throw new UsageError('--tokenizer-config and --chat-template need --tokenizer.');
    return undefined;
  }
  const texts = {
    tokenizer: readText(tokenizer),
    config: config && readText(config),
    chatTemplate: chatTemplate && readText(chatTemplate),
  };
  try {
    checkTokenizer(texts, task);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  return texts;
};

const readJson = (file: string, nowMs: number): unknown => {
  const text = readText(file);
  try {
    return { status: 'published', created: unixSeconds(nowMs), ...(JSON.parse(text) as object) };
  } catch {
    throw new UsageError(`${file} is not JSON.`);
  }
};

const modelOf = (fields: z.output<typeof ModelInFile>, file: string): Omit<Model, 'version'> => {
  try {
    return forTask(fields);
  } catch (error) {
    throw error instanceof InvalidRequest ? new UsageError(`Invalid input in ${file}: ${error.message}`) : error;
  }
};
