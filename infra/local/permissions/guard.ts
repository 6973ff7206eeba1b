import type { Role } from '../../assembly/interpret-roles.ts';
import type { LambdaFunction } from '../../assembly/local-app.ts';
import type { TableWrites } from '../dynamodb/table-writes.ts';
import type { Endpoints } from '../lambda/environment-variables.ts';
import { createCheck, type Use } from './check.ts';
import { startCheckingProxy } from './checking-proxy.ts';
import type { Call } from './signed-call.ts';
import { createTagReader } from './tag-reader.ts';

interface GuardOptions {
  functions: readonly LambdaFunction[];
  roles: readonly Role[];
  report: (use: Use) => void;
  writes: TableWrites;
}

/** Puts an endpoint before each emulator that lets a function make only the calls that its role allows. */
export const guardEndpoints = async (endpoints: Endpoints, options: GuardOptions, started: AsyncDisposableStack): Promise<Endpoints> => {
  const check = createCheck({ ...options, tagsOf: createTagReader(endpoints.sagemakerUrl) });
  const noteWrite = ({ headers, body }: Call): void => options.writes.note(String(headers['x-amz-target']), body);
  const guarded = await Promise.all(
    Object.entries(endpoints).map(async ([name, url]: [string, string | null]) => {
      if (url === null) return [name, null];
      const proxy = await startCheckingProxy(url, check, name === 'dynamodbUrl' ? noteWrite : undefined);
      started.defer(proxy.close);
      return [name, proxy.url];
    }),
  );
  return Object.fromEntries(guarded) as unknown as Endpoints;
};
