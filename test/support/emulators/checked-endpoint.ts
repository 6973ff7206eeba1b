import { interpret } from '../../../infra/assembly/interpret.ts';
import { readAssembly } from '../../../infra/assembly/read-assembly.ts';
import { accessKeyIdOf } from '../../../infra/local/lambda/access-key-id.ts';
import { createCheck, type Use } from '../../../infra/local/permissions/check.ts';
import { startCheckingProxy } from '../../../infra/local/permissions/checking-proxy.ts';
import { assemblyDir } from '../assembly/assembly.ts';
import { recordUses } from './used-permissions.ts';

/**
 * Starts an endpoint before an emulator for suites that run a function's code in their own process: it allows the
 * calls that the function's role allows, as a local run does, and records them.
 * @param name the function's short name, as in docs/permissions.md
 */
export const startCheckedEndpoint = async (emulatorUrl: string, name: string) => {
  const { functions, roles } = interpret(await readAssembly(assemblyDir()));
  const fn = functions.find(({ shortName }) => shortName === name);
  if (!fn) throw new Error(`The app has no function ${name}.`);
  const uses = new Map<string, Use>();
  const tagsOf = () => Promise.reject(new Error('Only local runs check permissions that depend on tags.'));
  const proxy = await startCheckingProxy(
    emulatorUrl,
    createCheck({ functions, roles, tagsOf, report: (use) => void uses.set(JSON.stringify(use), use) }),
  );
  return {
    url: proxy.url,
    credentials: { accessKeyId: accessKeyIdOf(fn), secretAccessKey: 'local' },
    /** @throws Error if a call was denied */
    close: async (): Promise<void> => {
      await proxy.close();
      recordUses([...uses.values()]);
      const denied = [...uses.values()].filter(({ kind }) => kind === 'denied');
      if (denied.length > 0) throw new Error(`Calls that the role does not allow: ${JSON.stringify(denied.slice(0, 5), null, 1)}`);
    },
  };
};
