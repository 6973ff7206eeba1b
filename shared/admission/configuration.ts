const named = <Value>(prefix: string, values: readonly Value[]): Record<string, Value> =>
  Object.fromEntries(values.map((value, i) => [`${prefix}${i}`, value]));

/** A change of what is configured in a limiter item as DynamoDB takes it; the version that every admission proves is counted up. */
export const toConfigure = (changes: object, removed: readonly string[]) => {
  const entries = Object.entries(changes).filter(([, value]) => value !== undefined);
  const set = entries.map((_, i) => `#n${i} = :v${i}`).join(', ');
  const remove = removed.map((_, i) => `#r${i}`).join(', ');
  const names = {
    ...named(
      '#n',
      entries.map(([name]) => name),
    ),
    ...named('#r', removed),
  };
  return {
    UpdateExpression: [set && `SET ${set}`, remove && `REMOVE ${remove}`, 'ADD cfg :one'].filter(Boolean).join(' '),
    ConditionExpression: 'attribute_exists(id)',
    ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
    ExpressionAttributeValues: {
      ':one': 1,
      ...named(
        ':v',
        entries.map(([, value]) => value),
      ),
    },
  };
};
