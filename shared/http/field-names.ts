/** What a route calls properties that have other names in a chat completion, by those names. */
export type FieldNames = Readonly<Record<string, string>>;

/** A route's name for a property of a chat completion. */
export const nameOf = (field: string, names: FieldNames = {}): string => (Object.hasOwn(names, field) ? names[field] : undefined) ?? field;
