import { isDivided, type LimiterItem, type StoredNanos, storedEntriesOf } from '../item/limiter-item.ts';

const add = (one: StoredNanos, other: StoredNanos): StoredNanos => {
  const sum = BigInt(one) + BigInt(other);
  return typeof one === 'number' && typeof other === 'number' ? Number(sum) : sum;
};

/**
 * One image of a whole key or organization, from the items of its shards: their limits, counts, money and requests in
 * flight together. The rest comes from the first item. The rules for one item then apply to the whole.
 */
export const mergeShards = <Item extends LimiterItem>(items: readonly [Item, ...LimiterItem[]]): Item => {
  const [first, ...others] = items;
  if (others.length === 0) return first;
  const merged = { ...(first as object), fl: Object.assign({}, ...items.map(storedEntriesOf)) } as Record<string, unknown>;
  for (const item of others)
    for (const [name, value] of Object.entries(item))
      if (isDivided(name)) merged[name] = add((merged[name] ?? 0) as StoredNanos, value as StoredNanos);
  const slots = items.flatMap(({ slot }) => slot ?? []);
  if (slots.length > 0) merged.slot = Math.max(...slots);
  // The whole is not a shard.
  delete merged.shards;
  return merged as unknown as Item;
};
