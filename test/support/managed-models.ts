import type { Actor, Role } from '../../functions/control/access/actor.ts';
import type { CheckModel } from '../../functions/control/model-registry/check-targets.ts';
import { type ModelDependencies, registerModel } from '../../functions/control/model-registry/register-model.ts';
import { ModelRegistration } from '../../functions/control/model-registry/registration.ts';
import type { RegistrationReport } from '../../functions/control/model-registry/registration-report.ts';
import { createOrganization } from '../../functions/control/organizations/create-organization.ts';
import { createOrganizationStore } from '../../functions/control/organizations/organization-store.ts';
import { createAuditStore } from '../../shared/audit/audit-store.ts';
import { createAccountTable } from '../../shared/database/record-table.ts';
import type { TestDatabase } from './database.ts';
import { newId } from './new-id.ts';

/** 2026-11-21T12:00:00Z. */
export const NOW_SECONDS = 1_795_262_400;

export const actorOf = (role: Role, organization: string | null = null, nowMs: number = NOW_SECONDS * 1_000): Actor => ({
  userId: `user_${role}`,
  email: `${role}@example.com`,
  role,
  organization,
  maxApiKeys: 5,
  origin: {
    actor: { type: 'user', id: `user_${role}`, email: `${role}@example.com`, organization },
    requestId: 'req_1',
    ipAddress: '192.0.2.1',
    nowMs,
  },
});

export const admin = actorOf('admin');

/** A report in which every target passes, or none exists. */
export const reportOf = (passed: boolean): RegistrationReport => ({
  targets: [
    { endpoint: 'e', component: null, region: null, checks: [{ name: 'exists', passed, detail: passed ? 'It is.' : 'There is none.' }] },
  ],
  tokenizer: null,
  passed,
});

/** Models in real tables, with a test-defined result of their checks. */
export const manage = (database: TestDatabase) => {
  const accounts = createAccountTable(database.database, database.tables.Accounts as string);
  let passes = true;
  const checkedModels: string[] = [];
  const checkModel: CheckModel = async ({ name }) => {
    checkedModels.push(name);
    return reportOf(passes);
  };
  const deps: ModelDependencies = {
    database: database.database,
    audit: createAuditStore(accounts),
    models: database.models,
    organizations: createOrganizationStore(accounts),
    checkModel,
  };
  /** A registration as an admin sends it. */
  const bodyOf = (fields: object = {}): ModelRegistration =>
    ModelRegistration.parse({
      name: newId('key'),
      context_length: 1_000,
      max_output_tokens: 100,
      default_output_tokens: 50,
      targets: [{ endpoint: 'e' }],
      prices: [{ per_million: { prompt: '0.05', completion: '0.2' } }],
      ...fields,
    });
  return {
    deps,
    /** The models whose targets were checked. */
    checkedModels,
    bodyOf,
    setPassing: (passing: boolean): void => {
      passes = passing;
    },
    register: (fields: object = {}, actor: Actor = admin) => registerModel(deps, actor, bodyOf(fields)),
    /** Dependencies with which two concurrent changes both read the model before either writes it. */
    racing: (): ModelDependencies => {
      let reads = 0;
      let go = (): void => undefined;
      const bothRead = new Promise<void>((resolve) => {
        go = resolve;
      });
      const get: ModelDependencies['models']['get'] = async (pool, name) => {
        const model = await database.models.get(pool, name);
        if (++reads === 2) go();
        await bothRead;
        return model;
      };
      return { ...deps, models: { ...deps.models, get } };
    },
    newOrganization: () => createOrganization(deps, admin.origin, { name: 'Acme' }),
    /** An organization's audit entries about a target, newest first. */
    log: async (organization: string | null, target: string) => {
      const { data } = await deps.audit.list(organization, { limit: 100 });
      return data.filter(({ target: { id } }) => id === target);
    },
  };
};

export type Managed = ReturnType<typeof manage>;
