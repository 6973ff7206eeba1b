import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import type { Role } from '../../../../shared/hosts/permissions.ts';

/** Things that are there before the jobs begin. */
export interface JobThings {
  /** A key of the member. */
  key: { id: string; name: string };
  failedRequest: string;
  /** A user who has a key, and whose access is to end. */
  leaver: { email: string; key: string };
  /** The subject of a ticket about the request. */
  ticket: string;
  /** The folder of the owner's models, and an instance type that has a price. */
  weights: { folder: string; instanceType: string };
}

/** Something that people come to the console for. */
export interface Job {
  name: string;
  role: Role;
  /** The requests that do the same without the console, one for each command. */
  commands: readonly string[];
  /** Does it, from the home screen on. */
  walk: (page: Page, things: JobThings) => Promise<unknown>;
}

const LOGIN = 'POST /v1/auth/login';

const open = (page: Page, screen: string): Promise<void> =>
  page.getByLabel('Screens').getByRole('link', { name: screen, exact: true }).click();

const openById = async (page: Page, id: string): Promise<void> => {
  await page.keyboard.press('Control+k');
  await page.getByLabel('Screen name, or an id').fill(id);
  await page.getByLabel('Screen name, or an id').press('Enter');
};

/** The jobs whose clicks are counted. */
export const JOBS: readonly Job[] = [
  {
    name: 'Create an API key, and copy a request that works with it',
    role: 'member',
    commands: [LOGIN, 'GET /v1/models', 'POST /v1/api-keys'],
    walk: async (page) => {
      await open(page, 'API keys');
      await page.getByRole('button', { name: 'Create API key' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill('ci');
      await page.getByRole('button', { name: 'Create API key' }).last().click();
      await page.getByLabel('Example request with this key').getByRole('button', { name: /^Copy/ }).click();
    },
  },
  {
    name: 'Rotate the secret of an API key, and let the old one work for a day',
    role: 'member',
    commands: [LOGIN, 'GET /v1/api-keys', 'POST /v1/api-keys/{id}/rotate'],
    walk: async (page, { key }) => {
      await open(page, 'API keys');
      await page.getByRole('link', { name: key.name }).click();
      await page.getByRole('button', { name: 'Rotate secret' }).click();
      await page.getByRole('button', { name: 'Rotate secret' }).last().click();
      await page.getByRole('button', { name: 'I have saved the secret' }).click();
    },
  },
  {
    name: 'Find out why a request failed, by its id',
    role: 'member',
    commands: [LOGIN, 'GET /v1/observability/requests/{id}'],
    walk: async (page, { failedRequest }) => {
      await openById(page, failedRequest);
      await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    },
  },
  {
    name: 'Find the requests that failed today, and open the last one',
    role: 'owner',
    commands: [LOGIN, 'GET /v1/observability/requests?status=5xx', 'GET /v1/observability/requests/{id}', 'GET /v1/api-keys/{id}'],
    walk: async (page) => {
      await open(page, 'Requests');
      await page.getByLabel('Status').selectOption('5xx');
      await page.getByRole('link', { name: /^req_/ }).first().click();
      await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    },
  },
  {
    name: 'Open a ticket about a request',
    role: 'member',
    commands: [LOGIN, 'GET /v1/observability/requests/{id}', 'POST /v1/tickets'],
    walk: async (page, { failedRequest }) => {
      await openById(page, failedRequest);
      await page.getByRole('button', { name: 'Open a ticket about this' }).click();
      await page.getByLabel('What happened, and what did you expect?').fill('It failed.');
      await page.getByRole('button', { name: 'Open ticket', exact: true }).click();
      await page.waitForURL(/\/tickets\/tkt_/);
    },
  },
  {
    name: 'See what each API key costs this month',
    role: 'owner',
    commands: [LOGIN, 'GET /v1/organization/costs?group_by=api_key_id', 'GET /v1/api-keys'],
    walk: async (page, { key }) => {
      await open(page, 'Usage and costs');
      await page.getByLabel('Group by').selectOption('api_key_id');
      await page.getByRole('row', { name: key.name }).waitFor();
    },
  },
  {
    name: 'Invite a user with a role',
    role: 'owner',
    commands: [LOGIN, 'POST /v1/users'],
    walk: async (page) => {
      const email = `grace-${randomUUID()}@example.com`;
      await open(page, 'Users');
      await page.getByRole('button', { name: 'Invite user' }).click();
      await page.getByLabel('Email').fill(email);
      await page.getByRole('dialog').getByLabel('Role').selectOption('viewer');
      await page.getByRole('button', { name: 'Send invitation' }).click();
      await page.getByText(email).waitFor();
    },
  },
  {
    name: 'Disable a user, and revoke the API key that still works',
    role: 'owner',
    commands: [LOGIN, 'GET /v1/users', 'PATCH /v1/users/{id}', 'GET /v1/api-keys?created_by={id}', 'DELETE /v1/api-keys/{id}'],
    walk: async (page, { leaver }) => {
      await open(page, 'Users');
      await page.getByRole('button', { name: `Actions of ${leaver.email}` }).click();
      await page.getByRole('menuitem', { name: 'Disable user' }).click();
      await page.getByRole('button', { name: 'Disable user' }).click();
      await page.getByRole('link', { name: leaver.key }).click();
      await page.getByRole('button', { name: 'Revoke API key' }).click();
      await page.getByLabel(/^Type .* to confirm/).fill('of the leaver');
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke API key' }).click();
      await page.getByText('revoked', { exact: true }).waitFor();
    },
  },
  {
    name: 'Find out who changed a thing',
    role: 'owner',
    commands: [LOGIN, 'GET /v1/audit-log?target={id}', 'GET /v1/users/{id}'],
    walk: async (page, { key }) => {
      await open(page, 'Audit log');
      await page.getByLabel('Target (id)').fill(key.id);
      await page.getByLabel('Target (id)').press('Enter');
      await page.getByRole('cell', { name: 'api_key.created' }).waitFor();
    },
  },
  {
    name: 'Try a model, and see the exact cost of the answer',
    role: 'member',
    commands: [LOGIN, 'POST /v1/api-keys', 'POST /v1/chat/completions', 'GET /v1/observability/requests/{id}', 'DELETE /v1/api-keys/{id}'],
    walk: async (page) => {
      await open(page, 'Playground');
      await page.getByLabel('Message').fill('Tell me about rivers.');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await page.getByText('Timeline').first().waitFor();
    },
  },
  {
    name: 'Deploy a model of one’s own, with its price an hour and what AWS lets start',
    role: 'owner',
    commands: [LOGIN, 'GET /v1/runtimes', 'GET /v1/instance-types', 'POST /v1/deployments with validate_only', 'POST /v1/deployments'],
    walk: async (page, { weights }) => {
      await open(page, 'Deployments');
      await page.getByRole('link', { name: 'Deploy a model' }).last().click();
      await page.getByRole('button', { name: "Use your organization's folder" }).click();
      await page.getByLabel('Model files').fill(`${weights.folder}qwen3-8b/`);
      await page.getByRole('radio', { name: weights.instanceType }).click();
      await page.getByText('Ready to deploy').waitFor();
      await page.getByRole('button', { name: 'Create deployment' }).click();
      await page.getByRole('heading', { name: 'qwen3-8b' }).waitFor();
    },
  },
  {
    name: 'Answer a ticket about a request, with what is known of the request',
    role: 'support',
    commands: [
      LOGIN,
      'GET /v1/tickets',
      'GET /v1/tickets/{id}',
      'GET /v1/tickets/{id}/messages',
      'GET /v1/tickets/{id}/evidence',
      'PATCH /v1/tickets/{id}',
      'POST /v1/tickets/{id}/messages',
    ],
    walk: async (page, { ticket }) => {
      await open(page, 'Tickets');
      await page.getByRole('link', { name: ticket }).click();
      await page.getByRole('button', { name: 'Assign to me' }).click();
      await page.getByLabel('Reply to the customer').last().fill('The model server broke the connection.');
      await page.getByRole('button', { name: 'Send to customer' }).click();
      await page.getByRole('log').getByText('The model server broke the connection.').waitFor();
    },
  },
  {
    name: 'Review a draft of an invoice, and issue it',
    role: 'admin',
    commands: [LOGIN, 'GET /v1/billing/invoices?state=draft', 'GET /v1/billing/invoices/{id}', 'POST /v1/billing/invoices/{id}/issue'],
    walk: async (page) => {
      await page.getByRole('link', { name: 'Issue invoices' }).click();
      await page
        .getByRole('link', { name: /^Draft of/ })
        .first()
        .click();
      await page.getByRole('heading', { name: 'Lines' }).waitFor();
      await page.getByRole('button', { name: 'Issue invoice' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Issue invoice' }).click();
      await page.getByText('issued', { exact: true }).waitFor();
    },
  },
  {
    name: 'Onboard an organization with its owner, a budget, credit and an API key',
    role: 'admin',
    commands: [
      LOGIN,
      'POST /v1/organizations',
      'PUT /v1/organizations/{id}/limits',
      'POST /v1/organizations/{id}/credit-grants',
      'POST /v1/users',
      'POST /v1/api-keys',
    ],
    walk: async (page) => {
      const name = `Onboarded ${randomUUID()}`;
      await page.getByRole('link', { name: 'Onboard organization' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Organization').fill(name);
      await dialog.getByLabel("Owner's email").fill(`ada-${randomUUID()}@example.com`);
      await dialog.getByLabel('First API key').fill('production');
      await dialog.getByText('Limits, credit and password').click();
      await dialog.getByLabel('Budget per month').fill('500');
      await dialog.getByLabel('Pays from prepaid credit').check();
      await dialog.getByLabel('Credit ($)').fill('100.5');
      await dialog.getByRole('button', { name: 'Onboard organization' }).click();
      await page.getByRole('dialog', { name: `${name} is ready` }).waitFor();
    },
  },
];
