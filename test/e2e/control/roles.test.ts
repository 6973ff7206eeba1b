import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createInvoiceStore } from '../../../shared/billing/invoice-store.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { PERMISSIONS, permissionsOf, type Role } from '../../../shared/hosts/permissions.ts';
import type { Answer, SignedIn } from '../../support/clients/control.ts';
import { storeDeployment } from '../../support/fixtures/deployments.ts';
import { newInvoice, storeInvoice } from '../../support/fixtures/invoices.ts';
import { startUsers, type Users } from './user-fixtures.ts';

let users: Users;
let control: Users['control'];
let admin: Users['admin'];
let owner: Users['owner'];
let organization: string;
beforeAll(async () => {
  users = await startUsers();
  ({ control, admin, owner, organization } = users);
});
afterAll(() => users.run.close());

const withRole = (role: Role): Promise<SignedIn> => control.createUser({ role, organization });
const get = (path: string, { token }: SignedIn): Promise<Answer> => control.call('GET', path, { token });
const statusOf = async (path: string, user: SignedIn): Promise<number> => (await get(path, user)).status;
const patch = (id: string, body: object, { token } = owner): Promise<Answer> => control.call('PATCH', `/v1/users/${id}`, { token, body });

const storeDraft = async (): Promise<string> => {
  const draft = newInvoice({ organization, replaced: [] });
  await transact(
    users.run.database,
    createInvoiceStore(createRecordTable(users.run.database, users.run.tables.Billing as string)).toCreate(draft),
  );
  return draft.id;
};

describe('GET /v1/me', () => {
  test('lists the permissions, the second factor and the name of the organization', async () => {
    const viewer = await withRole('viewer');
    const { body } = await get('/v1/me', viewer);
    const permissions = PERMISSIONS.filter((permission) => permissionsOf('viewer').has(permission));
    expect(body).toMatchObject({
      role: 'viewer',
      organization,
      organization_name: 'Acme',
      currency: { code: 'USD', symbol: '$', decimals: 2 },
      second_factor: 'off',
      permissions,
    });
    const { body: renamed } = await control.call('PATCH', '/v1/me', { token: viewer.token, body: { name: 'Vera' } });
    expect(renamed).toEqual({ ...body, name: 'Vera', version: body.version + 1, updated_at: expect.any(Number) });
  });

  test('shows no organization and a second factor to an admin who has one', async () => {
    const { body } = await get('/v1/me', await control.createUser({ role: 'admin' }));
    expect(body).toMatchObject({ organization: null, organization_name: null, second_factor: 'on' });
    expect(body.permissions).not.toContain('payloads:read');
  });
});

describe('billing', () => {
  test('sees usage and money of the organization, and no keys', async () => {
    const user = await withRole('billing');
    const { invoiceId } = await storeInvoice(users.run, organization);
    for (const path of ['/v1/billing/invoices', `/v1/billing/invoices/${invoiceId}`, `/v1/organizations/${organization}/credit-grants`])
      expect([path, await statusOf(path, user)]).toEqual([path, 200]);
    expect(await statusOf('/v1/organization/costs?start_time=1795219200', user)).toBe(200);
    for (const path of ['/v1/api-keys', '/v1/users', '/v1/webhooks', '/v1/audit-log', '/v1/deployments'])
      expect([path, await statusOf(path, user)]).toEqual([path, 403]);
    expect(await statusOf(`/v1/billing/invoices/${await storeDraft()}`, user)).toBe(404);
  });

  test('keeps the billing profile, but not the terms that admins agree', async () => {
    const { token } = await withRole('billing');
    const change = (body: object) => control.call('PATCH', '/v1/billing/profile', { token, body });
    expect((await change({ purchase_order: 'PO-4711' })).status).toBe(200);
    expect((await change({ payment_terms_days: 90 })).body.error.code).toBe('set_by_admins');
  });

  test('opens tickets about invoices, but can’t see a deployment through a ticket', async () => {
    const user = await withRole('billing');
    const { id: deployment } = await storeDeployment(users.run, { organization, wanted: 'stopped', state: 'stopped' });
    const { invoiceId: invoice } = await storeInvoice(users.run, organization);
    const open = (named: object, { token } = user) =>
      control.call('POST', '/v1/tickets', { token, body: { subject: 'A question', body: 'Why?', ...named } });
    expect((await open({ invoice })).status).toBe(201);
    expect((await open({ deployment })).body.error).toMatchObject({ code: 'deployment_not_found', param: 'deployment' });
    const { body: ticket } = await open({ deployment, invoice }, owner);
    const typesFor = async (reader: SignedIn): Promise<string[]> =>
      (await get(`/v1/tickets/${ticket.id}/evidence`, reader)).body.data.map(({ type }: { type: string }) => type);
    expect([await typesFor(owner), await typesFor(user)]).toEqual([['deployment', 'invoice'], ['invoice']]);
  });
});

describe('viewer', () => {
  test('sees users, keys and money of the organization, and changes none of them', async () => {
    const user = await withRole('viewer');
    const { id } = await control.done('POST', '/v1/api-keys', { token: owner.token, body: { name: 'key' } });
    const paths = ['/v1/users', `/v1/api-keys/${id}`, '/v1/billing/invoices', '/v1/audit-log', '/v1/webhooks', '/v1/tickets'];
    for (const path of paths) expect([path, await statusOf(path, user)]).toEqual([path, 200]);
    const revoked = await control.call('DELETE', `/v1/api-keys/${id}`, { token: user.token });
    expect([revoked.status, revoked.body.error.code]).toEqual([403, 'insufficient_role']);
    expect(revoked.body.error.message).toContain("'keys:write'");
    expect(await statusOf('/v1/observability/payload-log', user)).toBe(403);
  });

  test('becomes a member at the next request after an owner changes the role', async () => {
    const user = await withRole('viewer');
    const create = () => control.call('POST', '/v1/api-keys', { token: user.token, body: { name: 'key' } });
    expect((await create()).status).toBe(403);
    expect((await patch(user.id, { role: 'member' })).body.role).toBe('member');
    expect((await create()).status).toBe(201);
    const { data } = await control.done('GET', '/v1/audit-log?limit=2', { token: owner.token });
    expect(data[1]).toMatchObject({ action: 'user.updated', changes: { role: { from: 'viewer', to: 'member' } } });
  });
});

describe('platform_billing', () => {
  test('works on the money of every organization, and can’t change users, keys or prices', async () => {
    const user = await control.createUser({ role: 'platform_billing' });
    const draft = await storeDraft();
    for (const path of [`/v1/billing/invoices?organization=${organization}`, `/v1/billing/invoices/${draft}`, '/v1/organizations'])
      expect([path, await statusOf(path, user)]).toEqual([path, 200]);
    const limits = { requests_per_minute: 60, prepaid: true };
    await control.done('PUT', `/v1/organizations/${organization}/limits`, { token: admin.token, body: limits });
    const grant = { amount: '1', reason: 'A voucher' };
    const granted = await control.call('POST', `/v1/organizations/${organization}/credit-grants`, { token: user.token, body: grant });
    expect([granted.status, granted.body.object]).toEqual([201, 'credit_grant']);
    for (const path of ['/v1/users?organization=platform', '/v1/audit-log', '/v1/tickets', `/v1/api-keys?organization=${organization}`])
      expect([path, await statusOf(path, user)]).toEqual([path, 403]);
    expect((await control.call('POST', '/v1/prices', { token: user.token, body: {} })).status).toBe(403);
  });

  test('is given by admins alone, and only to users of the platform', async () => {
    const invited = (by: SignedIn) =>
      control.call('POST', '/v1/users', { token: by.token, body: { email: `m-${by.id}@example.com`, role: 'platform_billing' } });
    expect((await invited(owner)).body.error).toMatchObject({ code: 'insufficient_role', param: 'role' });
    const { body: user } = await invited(admin);
    expect(user).toMatchObject({ role: 'platform_billing', organization: null });
    expect((await patch(user.id, { role: 'billing' }, admin)).body.error.code).toBe('role_not_changeable');
    expect((await patch(user.id, { role: 'support' }, admin)).body.role).toBe('support');
    const member = await withRole('member');
    expect((await patch(member.id, { role: 'platform_billing' }, admin)).body.error.code).toBe('role_not_changeable');
    const listed = await control.done('GET', '/v1/users?organization=platform&limit=100', { token: admin.token });
    expect(listed.data.map(({ id }: { id: string }) => id)).toContain(user.id);
  });
});
