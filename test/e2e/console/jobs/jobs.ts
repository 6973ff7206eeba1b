import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createInvoiceStore } from '../../../../shared/billing/invoice-store.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import type { Role } from '../../../../shared/hosts/permissions.ts';
import type { TestConsole } from '../../../support/browser/console-session.ts';
import { countEffort } from '../../../support/browser/effort.ts';
import type { SignedIn } from '../../../support/clients/control.ts';
import { eventually } from '../../../support/eventually.ts';
import { newInvoice } from '../../../support/fixtures/invoices.ts';
import { JOBS, type Job, type JobThings } from './job-list.ts';

const PAGE = path.join(import.meta.dirname, '../../../../docs/console-jobs.md');
const BEFORE_TABLE = /^[\s\S]*?(?=\| Job)/;

let ui: TestConsole;
let things: JobThings;
const users = new Map<Role, SignedIn>();
const userOf = (role: Role): SignedIn => users.get(role) as SignedIn;

const send = async (secret: string): Promise<string> => {
  const reply = await fetch(`${ui.run.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: ui.run.model, max_tokens: 4, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await reply.text();
  return reply.headers.get('x-request-id') ?? '';
};

const untilFound = (id: string): Promise<void> =>
  eventually(
    async () => (await ui.control.call('GET', `/v1/observability/requests/${id}`, { token: userOf('owner').token })).status === 200,
    `request ${id} is found`,
  );

const INSTANCE_TYPE = 'ml.g6e.2xlarge';
const SELLER = { legal_name: 'Example GmbH', address: { lines: ['Hafenstraße 1', 'Hamburg'], country: 'DE' }, issue: 'manual' };

const prepareDeployment = async (organization: string): Promise<JobThings['weights']> => {
  const { s3_endpoint, sagemaker_url, buckets } = ui.run;
  await fetch(`${sagemaker_url}/control/deployments`, { method: 'PUT', body: JSON.stringify({ quotas: { [INSTANCE_TYPE]: 2 } }) });
  await fetch(`${s3_endpoint}/${buckets.Weights}/${organization}/qwen3-8b/config.json`, { method: 'PUT', body: '{}' });
  const { token } = await ui.control.asAdmin();
  await ui.control.done('POST', `/v1/instance-types/${INSTANCE_TYPE}/prices`, { token, body: { per_hour: '2.8' } });
  return { folder: `s3://${buckets.Weights}/${organization}/`, instanceType: INSTANCE_TYPE };
};

const prepareInvoice = async (organization: string): Promise<void> => {
  const { token } = await ui.control.asAdmin();
  await ui.control.done('PUT', '/v1/billing/seller', { token, body: SELLER });
  const invoices = createInvoiceStore(createRecordTable(ui.run.database, ui.run.tables.Billing as string));
  await transact(ui.run.database, invoices.toCreate(newInvoice({ organization, replaced: [] })));
};

const openTicket = async ({ token }: SignedIn, request: string): Promise<string> => {
  const body = { subject: 'A request failed', body: 'Why?', request_ids: [request] };
  return (await ui.control.done('POST', '/v1/tickets', { token, body })).subject;
};

const createKey = ({ token }: SignedIn, name: string) => ui.control.done('POST', '/v1/api-keys', { token, body: { name } });

const prepare = async (): Promise<void> => {
  const { control, run } = ui;
  const { id: organization } = await control.createOrganization();
  const [owner, member, leaver] = await Promise.all([
    control.createUser({ role: 'owner', organization }),
    control.createUser({ role: 'member', organization }),
    control.createUser({ role: 'member', organization }),
  ]);
  users
    .set('owner', owner)
    .set('member', member)
    .set('admin', await control.asAdmin());
  users.set('support', await control.createUser({ role: 'support' }));
  const [key, ofLeaver] = await Promise.all([createKey(member, 'production'), createKey(leaver, 'of the leaver')]);
  await send(key.secret);
  await run.control('container', { fault: { kind: 'destroy', after_tokens: 3 } });
  const failedRequest = await send(key.secret);
  await run.control('container');
  await untilFound(failedRequest);
  await prepareInvoice(organization);
  things = {
    key,
    failedRequest,
    leaver: { email: leaver.email, key: ofLeaver.id },
    ticket: await openTicket(member, failedRequest),
    weights: await prepareDeployment(organization),
  };
};

const rows: string[] = [];

const rowOf = ({ name, role, commands }: Job, { clicks, fields }: { clicks: number; fields: number }): string =>
  `| ${name} | ${role} | ${clicks} | ${fields} | ${commands.length} | ${commands.map((command) => `\`${command}\``).join(', ')} |`;

const table = (): string =>
  ['| Job | Role | Clicks | Fields | Commands | The commands |', '|---|---|--:|--:|--:|---|', ...rows, ''].join('\n');

/**
 * The tests of all jobs, in a console whose run counts usage soon.
 * @param open called before them
 */
export const describeJobs = (open: () => TestConsole): void => {
  describe('a job in the console', () => {
    beforeAll(async () => {
      ui = open();
      await prepare();
    });

    test.each(JOBS)('is done from the home screen on: $name', async (job) => {
      const { page, faults, close } = await ui.open(userOf(job.role), '/', { permissions: ['clipboard-read', 'clipboard-write'] });
      const effort = await countEffort(page);
      await job.walk(page, things);
      rows.push(rowOf(job, await effort()));
      expect(faults).toEqual([]);
      await close();
    });

    test('takes as many clicks as the documentation says', () => {
      process.stderr.write(`\n${table()}`);
      const [before = ''] = BEFORE_TABLE.exec(readFileSync(PAGE, 'utf8')) ?? [];
      if (process.env.UPDATE_JOBS) writeFileSync(PAGE, before + table());
      expect(readFileSync(PAGE, 'utf8')).toBe(before + table());
    });
  });
};
