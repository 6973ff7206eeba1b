interface Version {
  id: string;
  /** Unix seconds. */
  effective_at: number;
}

type PriceState = 'scheduled' | 'current' | 'past';

/** The state of a price version. @param versions all of the model, newest first @param nowS Unix seconds */
export const stateOf = (versions: readonly Version[], { id, effective_at }: Version, nowS: number): PriceState => {
  if (effective_at > nowS) return 'scheduled';
  return versions.find((version) => version.effective_at <= nowS)?.id === id ? 'current' : 'past';
};
