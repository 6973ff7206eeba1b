import { Resolver } from 'node:dns/promises';

const TIMEOUT_MS = 2_000;
const TRIES = 2;
// A domain can have many records; one of ours has a name of its own.
const MAX_RECORDS = 100;
const NONE = new Set(['ENOTFOUND', 'ENODATA']);

/** The texts of a name's TXT records, which can be none; undefined: no DNS server replied. */
export type ResolveTxt = (name: string) => Promise<string[] | undefined>;

/** Creates a resolver of TXT records. @param servers DNS servers; default: those of the environment */
export const createResolveTxt =
  (servers: readonly string[] = []): ResolveTxt =>
  async (name) => {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (servers.length > 0) resolver.setServers(servers);
    try {
      const records = await resolver.resolveTxt(name);
      // A long text arrives in parts.
      return records.slice(0, MAX_RECORDS).map((parts) => parts.join(''));
    } catch (error) {
      return NONE.has(String((error as NodeJS.ErrnoException).code)) ? [] : undefined;
    }
  };
