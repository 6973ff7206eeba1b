import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { transact } from '../../../shared/database/transaction.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../shared/time/units.ts';
import { type GpuEvent, gpuEventId } from '../../../shared/usage/gpu-event.ts';
import { createGpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { goTo, openConsole, PHONE, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';
import { storeDeployment } from '../../support/fixtures/deployments.ts';
import { newId } from '../../support/fixtures/new-id.ts';

const YESTERDAY = Math.floor(Date.now() / DAY_MS - 1) * DAY_MS;
const TYPE = `ml.e${newId('organization').slice(-12).toLowerCase()}.xlarge`;

let ui: TestConsole;
let admin: SignedIn;
let owner: SignedIn;
let organization: string;
let deployment: string;

// An hour of two instances, for which the customer paid $3, and which nobody used.
const addGpuTime = async (): Promise<void> => {
  const event = {
    deployment_id: deployment,
    org_id: organization,
    name: 'chat',
    generation: 1,
    instance_type: TYPE,
    instances: 2,
    phase: 'serving' as const,
    started_at: YESTERDAY,
    ended_at: YESTERDAY + HOUR_MS,
    seconds: HOUR_MS / SECOND_MS,
    cost_nanos: 3_000_000_000n,
    price_version: 'price_1',
  } satisfies Omit<GpuEvent, 'id'>;
  const store = createGpuEventStore(ui.run.database, ui.run.tables.Usage as string);
  await transact(ui.run.database, store.toAdd([{ ...event, id: gpuEventId(event) }]));
};

beforeAll(async () => {
  ui = await openConsole();
  admin = await ui.control.asAdmin();
  ({ id: organization } = await ui.control.createOrganization());
  owner = await ui.control.createUser({ role: 'owner', organization });
  // Stopped, so that nothing starts it.
  ({ id: deployment } = await storeDeployment(ui.run, { organization, name: 'chat', wanted: 'stopped', state: 'stopped' }));
  await addGpuTime();
  await ui.control.done('POST', '/v1/instance-types', {
    token: admin.token,
    body: { id: TYPE, accelerator: 'NVIDIA A10G', accelerators: 1, accelerator_memory_gib: 24, memory_gib: 16 },
  });
});
afterAll(() => ui.close());

describe('economics in the console', () => {
  test('show the platform no cost until it states one, and then the margin', async () => {
    const address = `/economics?range=30d&organization=${organization}`;
    const { page, faults, close } = await ui.open(admin, address);
    await page.getByText('Some costs are unknown').waitFor();
    await page.getByRole('cell', { name: 'unknown' }).first().waitFor();
    await goTo(page, `/instance-types?q=${TYPE}`);
    await page.getByRole('button', { name: `Actions of ${TYPE}` }).click();
    await page.getByRole('menuitem', { name: 'Add cost' }).click();
    await page.getByLabel('USD per hour').fill('1.01');
    await page.getByLabel('From (UTC)').fill('2026-01-01T00:00');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Add cost' }).click();
    await page.getByRole('cell', { name: '$1.01' }).waitFor();
    await page.goto(`${ui.run.control_url}/console${address}`);
    await page.getByRole('cell', { name: '$2.02' }).waitFor();
    await page.getByRole('cell', { name: '$0.98' }).waitFor();
    for (const name of ['Economics by deployment', 'Cost per million tokens by deployment']) {
      const table = page.getByRole('region', { name, exact: true });
      expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    }
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  });

  test("show finance a deployment by its name, without a link to a page that it can't open", async () => {
    const finance = await ui.control.createUser({ role: 'platform_billing' });
    const { page, faults, close } = await ui.open(finance, `/economics?range=30d&organization=${organization}`);
    await page.getByRole('cell', { name: 'chat' }).first().waitFor();
    expect(await page.getByRole('main').getByRole('link').count()).toBe(0);
    expect(faults).toEqual([]);
    await close();
  });

  test('show the owner the charge, that nobody used the deployment, and another provider’s price', async () => {
    const { page, faults, close } = await ui.open(owner, '/economics?range=30d', PHONE);
    await page.getByRole('cell', { name: '$3.00' }).waitFor();
    await page.getByText('unused', { exact: true }).waitFor();
    await page.getByText('0.0 of 2.0').waitFor();
    expect(await page.getByText('Margin').count()).toBe(0);
    await page.getByLabel('List price per 1M prompt tokens').fill('0.22');
    await page.getByLabel('List price per 1M completion tokens').fill('0.22');
    await page.keyboard.press('Enter');
    await page.getByRole('columnheader', { name: 'At list price', exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  });
});
