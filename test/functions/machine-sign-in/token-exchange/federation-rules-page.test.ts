import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OAuth2Server } from 'oauth2-mock-server';
import { FederationRuleUpdate } from '../../../../functions/control/federation-rules/rule-resource.ts';
import { API_KEY } from '../../../../functions/machine-sign-in/token-exchange/exchange-grant.ts';
import { closeServer, listen } from '../../../../infra/local/http/listen.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { createRuleStore } from '../../../../shared/federation/rule-store.ts';
import { ApiError } from '../../../../shared/http/errors.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountOf, openMachineSignIn } from '../machine-sign-in-fixtures.ts';

const run = promisify(execFile);
const page = readFileSync('docs/federation-rules.md', 'utf8');
const ACCOUNT = 'user_0q8Xc2VwQy41mTzNbR';
const RULE = 'fed_VbdBUPc4RtYvB8fK2m';

let database: TestDatabase;
let github: OAuth2Server;
const servers: Server[] = [];
const callers: unknown[] = [];
let controlUrl: string;
let requestUrl: string;

const serve = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  servers.push(server);
  return listen(server, 0);
};

const exchange = async (request: IncomingMessage, world: ReturnType<typeof openMachineSignIn>): Promise<[number, unknown]> => {
  try {
    const sent = Object.fromEntries(new URLSearchParams(await text(request)));
    return [200, await world.send(sent, { atMs: Date.now() })];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [error.status, { error: error.code }];
  }
};

beforeAll(async () => {
  database = await startTestDatabase();
  github = new OAuth2Server();
  await github.issuer.keys.generate('RS256');
  await github.start(0, 'localhost');
  const world = openMachineSignIn(database);
  await world.create(accountOf('page', { id: ACCOUNT }));
  controlUrl = await serve(async (request, response) => {
    callers.push(request.headers.authorization);
    const [status, body] = request.url === '/v1/auth/token' ? await exchange(request, world) : [200, { object: 'user' }];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  // As the runner's service does: https://docs.github.com/actions/reference/security/oidc
  requestUrl = await serve(async (request, response) => {
    const aud = new URL(`http://runner${request.url}`).searchParams.get('audience');
    const isRunner = request.headers.authorization === 'Bearer runner';
    const value = await github.issuer.buildToken({
      scopesOrTransform: (_, payload) => {
        const subject = { sub: 'repo:acme@12/web@7:ref:refs/heads/main', repository_id: '123456789', ref: 'refs/heads/main' };
        Object.assign(payload, { aud, jti: randomUUID(), ...subject });
      },
    });
    response.writeHead(isRunner ? 200 : 401).end(JSON.stringify({ value }));
  });
  const rules = createRuleStore(createRecordTable(database.database, String(database.tables.Accounts)));
  const shown = JSON.parse(/-d '(\{[^']*\})'/.exec(page)?.[1] ?? '{}');
  const rule = {
    ...{ id: RULE, service_account: ACCOUNT, description: null, subject: null, status: 'active' as const },
    ...{ created_at: 1, updated_at: 1, version: 1 },
    ...shown,
    issuer: String(github.issuer.url),
    audience: controlUrl,
  };
  await transact(database.database, rules.toCreate(rule, await rules.issuersOf('org_page')));
});
afterAll(async () => {
  await Promise.all([database.close(), github.stop(), ...servers.map(closeServer)]);
});

const script = (): string => {
  const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
  const [, steps = ''] = /- run: \|\n(.*)$/s.exec(yaml) ?? [];
  return steps;
};

const runJob = (environment: Record<string, string>) =>
  run('bash', ['-eo', 'pipefail', '-c', script()], {
    env: {
      PATH: String(process.env.PATH),
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'runner',
      ACTIONS_ID_TOKEN_REQUEST_URL: `${requestUrl}/?version=1`,
      SLUICE_URL: controlUrl,
      SERVICE_ACCOUNT: /SERVICE_ACCOUNT: (\S+)/.exec(page)?.[1] ?? '',
      FEDERATION_RULE: /FEDERATION_RULE: (\S+)/.exec(page)?.[1] ?? '',
      ...environment,
    },
  });

describe('the workflow of docs/federation-rules.md', () => {
  test('calls the control plane with an access token that it got for its own token', async () => {
    for (let i = 0; i < 2; i++) expect((await runJob({})).stdout).toBe('::add-mask::access\n{"object":"user"}');
    expect(callers).toContain('Bearer access');
  });

  test('fails if the rule does not accept its token', async () => {
    await expect(runJob({ FEDERATION_RULE: 'fed_000000000000000000' })).rejects.toThrow();
  });
});

describe('the part of docs/federation-rules.md about API keys', () => {
  const [, part = ''] = /## An API key for the job\n(.*?)\n## /s.exec(page) ?? [];

  test('shows settings that a rule accepts', () => {
    const [, body = ''] = /-X PATCH .*? -d '(\{[^']*\})'/s.exec(part) ?? [];
    expect(FederationRuleUpdate.parse(JSON.parse(body)).api_key).toMatchObject({ models: ['qwen3-8b'], lifetime_seconds: 900 });
  });

  test('shows the parameter that requests a key', () => {
    expect(part).toContain(`--data-urlencode requested_token_type=${API_KEY}\n`);
  });

  test('names each setting', () => {
    const { api_key } = FederationRuleUpdate.parse({ api_key: {} });
    for (const setting of Object.keys(api_key ?? {})) expect(part).toContain(`| \`${setting}\``);
  });
});
