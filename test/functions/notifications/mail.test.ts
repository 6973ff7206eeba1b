import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../functions/control/access/actor.ts';
import { createOrganization } from '../../../functions/control/organizations/create-organization.ts';
import { MailRejected } from '../../../functions/notifications/mail/send-email.ts';
import { transact } from '../../../shared/database/transaction.ts';
import type { StoredUser } from '../../../shared/identity/user-store.ts';
import { DAY_MS } from '../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { storeUser } from '../../support/fixtures/stored-users.ts';
import { createNotificationsWorld, type NotificationsWorld } from './notifications-world.ts';

let database: TestDatabase;
let world: NotificationsWorld;
let lines: string[];
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  lines = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  world = await createNotificationsWorld(database);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await world.close();
});

const INVOICE = {
  type: 'sluice.invoice.issued.v1' as const,
  subject: 'inv_1',
  data: { number: 'INV-7', total: '12.34', due_at: null, note: 'two\r\nlines' },
};

test('mails an invoice once to each address of the billing profile, as plain text', async () => {
  world.setEmails(['a@example.com', 'b@example.com', 'A@Example.com']);
  const { id } = await world.emit(INVOICE);
  const rows = await world.newEntries();
  await world.announceRows(rows);
  // The stream delivers it again, and the queue each message three times.
  await world.announceRows(rows);
  await world.run(DAY_MS, 3);
  expect(world.mails.map(({ to }) => to).toSorted()).toEqual(['a@example.com', 'b@example.com']);
  const [{ subject, text } = { subject: '', text: '' }] = world.mails;
  expect(subject).toBe('Invoice issued');
  expect(text.split('\n')).toEqual(
    expect.arrayContaining(['Number: INV-7', 'Total: 12.34', 'Note: two lines', 'About: inv_1', `Event: ${id}`]),
  );
  expect(text).not.toContain('Due at');
});

test('mails nothing about deployments, and nothing if email is not configured', async () => {
  world.setEmails(['a@example.com']);
  await world.emit({ type: 'sluice.deployment.state_changed.v1' });
  await world.run(DAY_MS);
  await world.emit(INVOICE);
  await world.announceRows(await world.newEntries(), { ...world.deps, recipients: undefined });
  await world.run(DAY_MS);
  expect([world.mails, world.queue]).toEqual([[], []]);
});

test('mails the end of a secret to the active owners, and to nobody else', async () => {
  const { stores, organization, admin } = world;
  const { id: other } = await createOrganization(stores, admin.origin, { name: 'Other' });
  const owner = await storeUser(stores, { role: 'owner', organization });
  await storeUser(stores, { role: 'member', organization });
  await storeUser(stores, { role: 'owner', organization: other });
  world.setEmails(['accounting@example.com']);
  const data = { service_account: 'user_1', name: 'nightly', secret: 'sas_1', hint: 'sas_…4f2a', expires_at: 1_800_000_000 };
  await world.emit({ type: 'sluice.service_account.secret_expiring.v1', subject: 'user_1', data });
  await world.run(DAY_MS);
  expect(world.mails).toMatchObject([{ to: owner.email, subject: 'Secret of a service account expires soon' }]);
  const lines = [
    'Secret: sas_1',
    'Expires at: 2027-01-15T08:00:00.000Z',
    'You get this email because you are an owner of the organization.',
  ];
  expect(world.mails[0]?.text.split('\n')).toEqual(expect.arrayContaining(lines));
});

describe('an address of the billing profile', () => {
  const set = async ({ userId }: Actor, fields: Partial<StoredUser>): Promise<void> => {
    const user = await world.stores.users.get(userId);
    if (!user) throw new Error(`${userId} does not exist.`);
    await transact(database.database, [world.stores.users.toReplace({ ...user, ...fields }, user)]);
  };

  test('gets an invoice if it is no user’s, or that of an active owner or admin', async () => {
    const { stores, organization, admin } = world;
    const { id: other } = await createOrganization(stores, admin.origin, { name: 'Other' });
    const owner = await storeUser(stores, { role: 'owner', organization });
    const demoted = await storeUser(stores, { role: 'owner', organization });
    const disabled = await storeUser(stores, { role: 'owner', organization });
    const stranger = await storeUser(stores, { role: 'owner', organization: other });
    await set(demoted, { role: 'member' });
    await set(disabled, { status: 'disabled' });
    const users = [owner, demoted, disabled, stranger, admin].map(({ email }) => email);
    world.setEmails([...users, 'accounting@example.com']);
    await world.emit(INVOICE);
    await world.emit({ ...INVOICE, type: 'sluice.budget.threshold_reached.v1' });
    await world.run(DAY_MS);
    const told = [owner.email, admin.email, 'accounting@example.com'];
    expect(world.mails.map(({ to }) => to).toSorted()).toEqual([...told, ...told].toSorted());
  });

  test('gets nothing if it was removed, or its user demoted, before a late attempt', async () => {
    const owner = await storeUser(world.stores, { role: 'owner', organization: world.organization });
    const attempts: string[] = [];
    const refuse = async ({ to }: { to: string }): Promise<void> => {
      attempts.push(to);
      throw new Error('SES does not answer.');
    };
    world.setEmails(['accounting@example.com', owner.email], refuse);
    await world.emit(INVOICE);
    await world.run(1_000);
    expect(attempts).toHaveLength(2);
    await set(owner, { role: 'member' });
    world.setEmails([owner.email], refuse);
    await world.run(3 * DAY_MS);
    expect([attempts.length, world.queue]).toEqual([2, []]);
  });
});

describe('a mail', () => {
  test('is sent later if SES is unavailable', async () => {
    let failures = 3;
    world.setEmails(['a@example.com'], async (mail) => {
      if (failures-- > 0) throw Object.assign(new Error('Too many.'), { name: 'TooManyRequestsException' });
      world.mails.push(mail);
    });
    await world.emit(INVOICE);
    await world.run(DAY_MS);
    expect(world.mails).toHaveLength(1);
    expect(world.queue).toEqual([]);
  });

  test('is given up if SES rejects it, and logged without its address and text', async () => {
    let attempts = 0;
    world.setEmails(['a@example.com'], async () => {
      attempts++;
      throw new MailRejected('Not verified.');
    });
    await world.emit(INVOICE);
    await world.run(3 * DAY_MS);
    expect([attempts, world.queue]).toEqual([1, []]);
    const [failure = ''] = lines.filter((line) => line.includes('mail_failed'));
    expect(failure).toContain('Not verified.');
    expect(lines.join()).not.toMatch(/a@example\.com|INV-7/);
  });

  test('is sent at most twice if the function crashes after SES has accepted it', async () => {
    let hasCrashed = false;
    world.setEmails(['a@example.com'], async (mail) => void world.mails.push(mail));
    await world.emit(INVOICE);
    await world.announceRows(await world.newEntries());
    const [{ body } = { body: '' }] = world.queue.splice(0);
    const mails = {
      ...world.deps.mails,
      change: async (...parameters: Parameters<typeof world.deps.mails.change>) => {
        if (parameters[1].state !== 'sent') return world.deps.mails.change(...parameters);
        hasCrashed = true;
        throw new Error('It crashed.');
      },
    };
    expect((await world.handleMessages([body], { ...world.deps, mails })).batchItemFailures).toHaveLength(1);
    world.queue.push({ body, dueAtMs: world.now() });
    await world.run(DAY_MS);
    expect([hasCrashed, world.mails.length, world.queue.length]).toEqual([true, 2, 0]);
  });
});
