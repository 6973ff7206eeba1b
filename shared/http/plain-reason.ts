const BOUNDS: Readonly<Record<string, string>> = { '<': 'less than', '<=': 'at most', '>': 'more than', '>=': 'at least' };

/**
 * Converts zod's message about a value to a phrase like `expected an integer` or `expected at most 100 characters`. A
 * schema's own message stays as it is.
 */
export const plainReason = (message: string): string =>
  message
    .replace(/^(?:Invalid|Too) \w+: /, '')
    .replace(/^(expected) \w+ to \w+ ([<>]=?)/, (_, expected: string, sign: string) => `${expected} ${BOUNDS[sign]} `)
    .replace(/ 1 (\w+)s$/, ' 1 $1')
    .replace(/^expected int(?:, received number)?/, 'expected integer')
    .replace(/^expected record/, 'expected object')
    .replace(/^expected tuple/, 'expected array')
    .replace(/\b(expected|received) (?=(?:string|number|boolean)\b)/g, '$1 a ')
    .replace(/\b(expected|received) (?=(?:integer|array|object)\b)/g, '$1 an ')
    .replace(/^Invalid (?=[\w ]+$)/, 'expected a valid ')
    .replace(/, received NaN$/, '')
    .replaceAll('"|"', '", "');
