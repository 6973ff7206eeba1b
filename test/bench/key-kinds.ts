import { PRICES } from '../../infra/tools/cost/prices.ts';
import type { Limits } from '../../shared/admission/item/limits.ts';
import { createCreditStore } from '../../shared/credit/credit-store.ts';
import { inferenceHostRoutes } from '../../shared/hosts/inference-routes.ts';
import type { TestRun } from '../support/clients/local-run.ts';
import { grantCredit } from '../support/fixtures/grant-credit.ts';
import { limitOrganization, limitProject } from '../support/fixtures/limit-organization.ts';
import { newId } from '../support/fixtures/new-id.ts';
import { ask } from './client.ts';
import { sum } from './lib/statistics.ts';
import type { Observer } from './observer.ts';
import { candidatesBody, embeddingsBody, shortBody } from './prompts.ts';
import type { Findings, Row } from './report.ts';

const WARM_UP_REQUESTS = 3;
const REQUESTS = 40;
// Dollars per million units.
const WRITE_PRICE = Number(PRICES.dynamoWrite.usd);
const READ_PRICE = Number(PRICES.dynamoRead.usd);
const DOLLARS = 10n ** 12n;

interface Kind {
  name: string;
  key?: Parameters<TestRun['createKey']>[0];
  organization?: Partial<Limits>;
  /** The budgets of the project that the key is in. */
  project?: Limits['budgets'];
  isIdempotent?: true;
  /** Another request than a chat completion, and its path. */
  request?: { path: string; body: string };
  /** The most write units that a request may use. */
  target?: number;
}

const KINDS: readonly Kind[] = [
  { name: 'a plain key', target: 4 },
  { name: 'a key with budgets', key: { day_budget_nanos: DOLLARS, month_budget_nanos: DOLLARS, total_budget_nanos: DOLLARS }, target: 4 },
  { name: 'a key of eight shards', key: { concurrency: 96 }, target: 4 },
  { name: 'a key with limits for end users', key: { per_user: { requestsPerMinute: 1_000_000, monthlyBudgetNanos: DOLLARS } }, target: 6 },
  { name: "a project's budget", project: { month: DOLLARS }, target: 5.5 },
  { name: "an organization's limits", organization: { requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000 }, target: 7 },
  { name: "an organization's money", organization: { budgets: { month: DOLLARS }, isPrepaid: true }, target: 7 },
  { name: 'a plain key and an idempotency key', isIdempotent: true },
  {
    name: 'a plain key and three candidates',
    request: { path: inferenceHostRoutes.createChatCompletion.path, body: candidatesBody() },
    target: 4,
  },
  {
    name: 'a plain key and 32 inputs to embed',
    request: { path: inferenceHostRoutes.createEmbeddings.path, body: embeddingsBody() },
    target: 4,
  },
];

/** Measures the database calls and the cost of a request for each kind of key. */
export const measureKinds = async (run: TestRun, observer: Observer): Promise<Findings> => {
  const rows: Row[] = [];
  const costs: string[] = [];
  for (const kind of KINDS) {
    const { writeUnits, readUnits } = await measureKind(run, observer, kind);
    const dollars = writeUnits * WRITE_PRICE + readUnits * READ_PRICE;
    rows.push({
      figure: `write units a request, ${kind.name}`,
      digits: 2,
      sluice: writeUnits,
      ...(kind.target && { target: kind.target }),
    });
    rows.push({ figure: `DynamoDB $ a million requests, ${kind.name}`, digits: 2, sluice: dollars });
    costs.push(`${kind.name} ${writeUnits.toFixed(2)} write and ${readUnits.toFixed(2)} read units`);
  }
  return {
    rows,
    notes: [
      `\nUnits a warm request, one in flight: ${costs.join('; ')}. At $${WRITE_PRICE} and $${READ_PRICE} a million; totals, the stream's reads and storage come on top.`,
    ],
  };
};

const measureKind = async (run: TestRun, observer: Observer, kind: Kind): Promise<{ writeUnits: number; readUnits: number }> => {
  const organization = newId('organization');
  const project = kind.project && newId('project');
  if (project && kind.project) await limitProject(run.limiters, project, organization, kind.project);
  const { secret } = await run.createKey({ org: organization, ...(project && { project_id: project }), ...kind.key });
  if (kind.organization) {
    await limitOrganization(run.limiters, organization, kind.organization);
    const credit = createCreditStore(run.database, run.tables.Accounts as string);
    const grant = { organization, amount_nanos: DOLLARS, actor: 'bench', reason: 'bench', granted_at: Date.now() };
    await grantCredit({ database: run.database, limiters: run.limiters, credit }, grant);
  }
  const body = JSON.stringify({ ...JSON.parse(shortBody(false)), ...(kind.key?.per_user && { user: 'ann' }) });
  const request = kind.request ?? { path: inferenceHostRoutes.createChatCompletion.path, body };
  const call = (number: number) =>
    ask(
      {
        url: `${run.base_url}${request.path}`,
        headers: { authorization: `Bearer ${secret}`, ...(kind.isIdempotent && { 'idempotency-key': String(number) }) },
      },
      request.body,
    );
  for (let request = 0; request < WARM_UP_REQUESTS; request += 1) await call(request);
  observer.take();
  for (let request = 0; request < REQUESTS; request += 1) await call(WARM_UP_REQUESTS + request);
  const calls = observer.take().filter(({ to }) => to === 'database');
  return {
    writeUnits: sum(calls.map((one) => one.writeUnits)) / REQUESTS,
    readUnits: sum(calls.map((one) => one.readUnits)) / REQUESTS,
  };
};
