interface Fault {
  path: string[];
  message: string;
}

interface ConflictingSettings {
  hosts: Readonly<Record<string, { domain?: string | undefined }>>;
  provisionedConcurrency: Readonly<Record<'inference' | 'ondemand-inference', number>>;
  reservedConcurrency?: Readonly<Record<'inference' | 'ondemand-inference', number>> | null | undefined;
}

// API Gateway has a domain once, and would refuse the second host after the first one was updated.
function* doubledDomains({ hosts }: ConflictingSettings): Generator<Fault> {
  const hostOf = new Map<string, string>();
  for (const [name, { domain }] of Object.entries(hosts)) {
    if (domain === undefined) continue;
    const other = hostOf.get(domain);
    if (other === undefined) hostOf.set(domain, name);
    else yield { path: ['hosts', name, 'domain'], message: `expected another domain than that of hosts.${other}: each host needs its own` };
  }
}

function* tooManyProvisioned({ provisionedConcurrency, reservedConcurrency }: ConflictingSettings): Generator<Fault> {
  for (const name of ['inference', 'ondemand-inference'] as const) {
    const reserved = reservedConcurrency?.[name];
    if (reserved === undefined || provisionedConcurrency[name] <= reserved) continue;
    const message = `expected at most ${reserved}, which reservedConcurrency.${name} reserves. Lower it, or reserve more`;
    yield { path: ['provisionedConcurrency', name], message };
  }
}

/** Returns the contradictions between settings that AWS would only refuse in the middle of a deployment. */
export const conflictsOf = (settings: ConflictingSettings): Fault[] => [...doubledDomains(settings), ...tooManyProvisioned(settings)];
