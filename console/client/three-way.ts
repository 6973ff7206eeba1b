/** The fields of a form: a text or a yes or no for each field. */
export type Draft = Readonly<Record<string, string | boolean>>;

/** A field that somebody else has changed since the form was opened. */
export interface Difference<Name> {
  name: Name;
  opened: string | boolean;
  stored: string | boolean;
  typed: string | boolean;
  /** True: the user has changed it as well, to another value, so that one of the two must be chosen. */
  isConflict: boolean;
}

/** The fields that were stored with another value since a form was opened. */
export const differencesOf = <D extends Draft>(opened: D, stored: D, typed: D): Difference<keyof D & string>[] =>
  Object.keys(typed)
    .filter((name) => stored[name] !== opened[name])
    .map((name) => ({
      name,
      opened: opened[name] ?? '',
      stored: stored[name] ?? '',
      typed: typed[name] ?? '',
      isConflict: typed[name] !== opened[name] && typed[name] !== stored[name],
    }));

/**
 * The fields that the form goes on with: those that the user changed keep what was typed, all others get the stored
 * value.
 * @param takesStored the fields for which the user chose the stored value
 */
export const mergeDrafts = <D extends Draft>(opened: D, stored: D, typed: D, takesStored: ReadonlySet<string>): D =>
  Object.fromEntries(
    Object.keys(typed).map((name) => [name, typed[name] === opened[name] || takesStored.has(name) ? stored[name] : typed[name]]),
  ) as D;
