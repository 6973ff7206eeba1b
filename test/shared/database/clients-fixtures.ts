const FIELDS = ['Item', 'Items', 'Attributes', 'LastEvaluatedKey', 'Responses', 'UnprocessedKeys'] as const;

// The SDK returns more fields than the interface has.
const outputOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(outputOf);
  if (typeof value !== 'object' || value === null || !('$metadata' in value)) return value;
  return Object.fromEntries(FIELDS.map((field) => [field, (value as Record<string, unknown>)[field]]));
};

/** How a call ended: its value, or what its error says. */
export const outcomeOf = (call: Promise<unknown>): Promise<object> =>
  call.then(
    (value) => ({ value: outputOf(value) }),
    ({ name, status, item, reasons }) => ({ name, isOutage: status === 503, item, reasons }),
  );
