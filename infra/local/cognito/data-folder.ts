import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { UserPool, UserPoolClient } from '../../assembly/local-app.ts';
import { PROVIDER_URL } from '../../assembly/resolve.ts';

// The other parts of a pool's file come from the template.
const KeptParts = z.object({ Users: z.record(z.string(), z.unknown()).default({}), Groups: z.record(z.string(), z.unknown()).default({}) });

// In the working directory of cognito-local.
const poolFile = (folder: string, poolId: string): string => path.join(folder, '.cognito', 'db', `${poolId}.json`);

/**
 * Writes the working directory of cognito-local: pools and clients from the template, and the users that already exist.
 * @throws Error naming a file that cannot be read
 */
export const writeDataFolder = async (folder: string, pools: readonly UserPool[]): Promise<void> => {
  await mkdir(path.join(folder, '.cognito', 'db'), { recursive: true, mode: 0o700 });
  const write = (file: string, content: object) => writeFile(file, JSON.stringify(content, undefined, 2), { mode: 0o600 });
  for (const pool of pools) {
    const file = poolFile(folder, pool.id);
    await write(file, { ...(await readKept(file)), Options: toOptions(pool) });
  }
  // Tokens have the same issuer as on AWS.
  await write(path.join(folder, '.cognito', 'config.json'), { TokenConfig: { IssuerDomain: PROVIDER_URL } });
  await write(path.join(folder, '.cognito', 'db', 'clients.json'), {
    Clients: Object.fromEntries(pools.flatMap((pool) => pool.clients.map((client) => toClient(pool, client)))),
  });
};

const readKept = async (file: string): Promise<z.infer<typeof KeptParts>> => {
  try {
    return KeptParts.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return KeptParts.parse({});
    throw new Error(`The users in ${file} cannot be read. Repair the file, or delete it together with its users.`, { cause: error });
  }
};

const toOptions = (pool: UserPool): object => ({
  Id: pool.id,
  UsernameAttributes: ['email'],
  MfaConfiguration: pool.hasTotp ? 'OPTIONAL' : 'OFF',
});

const toClient = ({ id }: UserPool, client: UserPoolClient): [string, object] => [
  client.id,
  {
    ClientId: client.id,
    ClientName: client.id,
    UserPoolId: id,
    AccessTokenValidity: client.accessTokenSeconds,
    IdTokenValidity: client.idTokenSeconds,
    RefreshTokenValidity: client.refreshTokenSeconds,
    TokenValidityUnits: { AccessToken: 'seconds', IdToken: 'seconds', RefreshToken: 'seconds' },
  },
];
