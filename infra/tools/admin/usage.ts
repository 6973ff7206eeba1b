/** A mistake in the command line, shown without a stack trace. */
export class UsageError extends Error {}

const COMMANDS = {
  bootstrap: `
  bootstrap --email ada@example.com  Create an admin, such as the first admin of a new deployment, and print their temporary password once.
      [--without-second-factor]      Let this admin do without a second factor, such as a program's.
`,
  'publish-model': `
  publish-model --file model.json    Publish a model on the serverless host. The file contains its name, sizes, targets and prices
                                     (see docs/publish-models.md for an example).
      [--tokenizer tokenizer.json [--tokenizer-config tokenizer_config.json] [--chat-template chat_template.jinja]]
                                     Upload the model's own files, so that Sluice can count and truncate prompts.
`,
  'register-tokenizer': `
  register-tokenizer --tokenizer tokenizer.json [--tokenizer-config tokenizer_config.json] [--chat-template chat_template.jinja] [--task embed]
                                     Upload the files and print their keys, for the tokenizer of a deployment.
`,
  'create-key': `
  create-key --org ID                Create an API key for the serverless host and print it once.
      [--requests-per-minute N] [--tokens-per-minute N] [--concurrency N] [--models a,b] [--expires 2027-01-01]
      [--day-budget 5] [--month-budget 100] [--total-budget 1000]    The most it can spend per day, month (UTC) and in total, in dollars.
      [--no-content]                 Don't store responses, or results under idempotency keys.
`,
  'limit-organization': `
  limit-organization --org ID        Replace all limits that the keys of an organization share: one that you leave out no longer applies, and
                                     without --prepaid, requests are invoiced. Prints the limits, and what has changed.
      [--requests-per-minute N] [--tokens-per-minute N] [--concurrency N] [--month-budget 500] [--prepaid]
                                     --prepaid: pay for requests from prepaid credit.
`,
  'apply-default-limits': `
  apply-default-limits               Give all organizations whose concurrency no admin has set the default of the deployed configuration: once
                                     after its change. Prints the organizations that had another.
`,
  'grant-credit': `
  grant-credit --org ID --dollars 100 --reason TEXT [--expires 2027-01-01]
                                     Add prepaid credit to an organization that has limits. Use --dollars=-5 to deduct credit. What is left
                                     of a grant expires at the beginning of the UTC day of --expires.
`,
  balance: `
  balance --org ID                   Show the credit that was granted, spent, held and is available, and fail if it doesn't add up.
`,
  rebuild: `
  rebuild --day 2026-11-21           Recompute the totals of a UTC day from its usage events, correct them and print the differences as
                                     JSON. Fails if totals were wrong.
  rebuild [--request-rows]           Recompute what follows from usage events and from the rows of organizations and keys: the totals of all days,
                                     lost limiters of keys and organizations, what they have counted, and credit. Print what was wrong as
                                     JSON, and fail if anything was. --request-rows: also the rows by which requests of 30 days are searched.
`,
  'verify-invoice': `
  verify-invoice --invoice ID        Derive an invoice again from its usage events and say that it is equal, or what differs by day, API key
                                     and line. Fails if anything differs.
`,
  'delete-data': `
  delete-data --org ID [--confirm ID]
                                     Show how much data a suspended organization has. With its id once more in --confirm, delete it: users,
                                     tickets, webhooks, contents, rows of requests, exports, weights, and what usage events have of people.
                                     docs/data.md says what stays.
`,
  tickets: `
  tickets [--status open,waiting_on_support] [--org ID]
                                     List tickets, the last changed one first; by default those that wait for support.
  tickets --ticket ID                Show a ticket with its messages, notes, history and evidence.
      [--reply TEXT | --note TEXT] [--resolve]
                                     Answer it, or write a note that only support sees; resolve it.
`,
  top: `
  top [--org ID] [--every 5] [--once]
                                     Show the newest minute that has usage by model and API key, again every few seconds (2 to 60), and once if
                                     the output is no terminal.
`,
  why: `
  why ALARM [--hours 3]              Say what an alarm means, whom it affects and what to do, as in docs/runbook.md, and run the entry's query of the
                                     logs over the last hours (up to 720). CloudWatch charges for the data that a query scans.
  why REQUEST                        Show the log lines and the usage event of a request by its x-request-id.
`,
} as const;

const COMMON = `
  --actor NAME                       The name in the audit log (default: the user of this shell).
  --local                            Use the local run that 'npm start' runs in this folder, instead of a deployment on AWS.
  --stack NAME                       The data stack that has the tables and the bucket (default: sluice-data). These environment variables
                                     override their names: KEYS_TABLE, MODELS_TABLE, DEPLOYMENTS_TABLE, USAGE_TABLE, ACCOUNTS_TABLE,
                                     AUDIT_TABLE, BILLING_TABLE, NOTIFICATIONS_TABLE, OBSERVABILITY_TABLE, RESPONSES_TABLE, TICKETS_TABLE, SUPPORT_PROMISE,
                                     ORGANIZATION_CONCURRENCY,
                                     TOKENIZERS_BUCKET, BILLING_BUCKET, PAYLOADS_BUCKET, TICKET_FILES_BUCKET, WEIGHTS_BUCKET, and for the user
                                     pool USER_POOL_ID, USER_POOL_CLIENT_ID, TOKEN_ISSUER.
  --help                             With a command: only its options.
`;

const HEAD = 'Usage: npm run admin -- COMMAND [options]\n';

const isCommand = (name: string): name is keyof typeof COMMANDS => Object.hasOwn(COMMANDS, name);

/** Returns the options that the usage of a command describes, without dashes; undefined if there is no such command. */
export const optionsOf = (command: string): ReadonlySet<string> | undefined =>
  isCommand(command) ? new Set(`${COMMANDS[command]}${COMMON}`.match(/(?<=--)[a-z][a-z-]*/g)) : undefined;

/** Returns the usage of all commands. */
export const usageOfAll = (): string => [HEAD, ...Object.values(COMMANDS), COMMON].join('');

/** Returns the usage of the command that the command line names, or else the names of all commands. */
export const usageOf = (args: readonly string[]): string => {
  const command = args.find(isCommand);
  return command === undefined
    ? `${HEAD}\nCommands: ${Object.keys(COMMANDS).join(', ')}.\nnpm run admin -- --help describes them.\n`
    : [HEAD, COMMANDS[command], COMMON].join('');
};
