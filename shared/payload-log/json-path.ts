/** One step of a path: a field, an index, or `*` for all of them. */
export type PathSegment = string | number | typeof ANY;
export const ANY = Symbol('*');

const MAX_CHARACTERS = 200;
const MAX_SEGMENTS = 16;
const SEGMENT = /\.(?:(\*)|([A-Za-z_][\w-]*))|\[(?:(\*)|(\d{1,6})|'([^'\\\n]{1,100})')\]/y;

/**
 * Parses a path of JSON values: a subset of RFC 9535 with fields (`.name`, `['name']`), indexes (`[0]`) and wildcards
 * (`.*`, `[*]`).
 * @returns undefined if it isn't such a path, or has more than 16 segments
 */
export const parseJsonPath = (path: string): PathSegment[] | undefined => {
  if (!path.startsWith('$') || path.length > MAX_CHARACTERS) return undefined;
  const segments: PathSegment[] = [];
  SEGMENT.lastIndex = 1;
  for (let end = 1; end < path.length; end = SEGMENT.lastIndex) {
    const match = SEGMENT.exec(path);
    if (!match || segments.length === MAX_SEGMENTS) return undefined;
    const [, anyField, field, anyIndex, index, quoted] = match;
    segments.push(anyField || anyIndex ? ANY : index === undefined ? ((field ?? quoted) as string) : Number(index));
  }
  return segments.length === 0 ? undefined : segments;
};
