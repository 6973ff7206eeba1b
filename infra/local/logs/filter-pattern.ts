const TERM = /(\?|-)?(?:"([^"]*)"|(\S+))/g;

/**
 * Returns whether a line matches a filter pattern of unstructured terms: all plain and quoted terms, at least one of
 * the `?` terms if there are any, and no `-` term; case-sensitive
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html). JSON and space-delimited
 * patterns are not supported.
 */
export const matchesFilterPattern = (pattern: string, line: string): boolean => {
  const terms = Array.from(pattern.matchAll(TERM), ([, sign, quoted, plain]) => ({ sign, found: line.includes(quoted ?? plain ?? '') }));
  const optional = terms.filter(({ sign }) => sign === '?');
  return (
    terms.every(({ sign, found }) => (sign === '-' ? !found : sign === '?' || found)) &&
    (optional.length === 0 || optional.some(({ found }) => found))
  );
};
