const MAX_CACHED_OWNERS = 1_000;

/** Makes something for each owner, such as an organization, and keeps it for the 1,000 that were used last. */
export const keptByOwner = <Made>(make: (owner: string) => Made): ((owner: string) => Made) => {
  const kept = new Map<string, Made>();
  return (owner) => {
    const made = kept.get(owner) ?? make(owner);
    kept.delete(owner);
    kept.set(owner, made);
    if (kept.size > MAX_CACHED_OWNERS) kept.delete(kept.keys().next().value as string);
    return made;
  };
};
