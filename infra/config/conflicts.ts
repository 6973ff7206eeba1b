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
const doubledDomains = ({ hosts }: ConflictingSettings): Fault[] => {
  const named = Object.entries(hosts).filter(([, { domain }]) => domain !== undefined);
  return named.flatMap(([name, { domain }], i) => {
    const [other] = named.slice(0, i).find(([, earlier]) => earlier.domain === domain) ?? [];
    return other === undefined
      ? []
      : [{ path: ['hosts', name, 'domain'], message: `expected another domain than that of hosts.${other}: each host needs its own` }];
  });
};

const tooManyProvisioned = ({ provisionedConcurrency, reservedConcurrency }: ConflictingSettings): Fault[] =>
  (['inference', 'ondemand-inference'] as const).flatMap((name) => {
    const reserved = reservedConcurrency?.[name];
    return reserved === undefined || provisionedConcurrency[name] <= reserved
      ? []
      : [
          {
            path: ['provisionedConcurrency', name],
            message: `expected at most ${reserved}, which reservedConcurrency.${name} reserves. Lower it, or reserve more`,
          },
        ];
  });

/** Returns the contradictions between settings that AWS would only refuse in the middle of a deployment. */
export const conflictsOf = (settings: ConflictingSettings): Fault[] => [...doubledDomains(settings), ...tooManyProvisioned(settings)];
