const EQUALS = /^\{ \$\.(\w+) = "([^"*%\\]*)" \}$/;

/**
 * Compiles a filter pattern for JSON lines that compares one property with a text, such as `{ $.message = "refused"
 * }` (https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html). Lines that are not JSON
 * don't match.
 * @param where the resource, for errors
 * @throws Error for any other pattern
 */
export const compileLogPattern = (pattern: string, where: string): ((line: string) => boolean) => {
  const [, property = '', text] = EQUALS.exec(pattern) ?? [];
  if (text === undefined) throw new Error(`The local run supports patterns like { $.message = "refused" } only, not ${pattern} (${where})`);
  return (line) => {
    try {
      const value: unknown = JSON.parse(line);
      return typeof value === 'object' && value !== null && (value as Record<string, unknown>)[property] === text;
    } catch {
      return false;
    }
  };
};
