import type { Entry } from '../../shared/admission/item/reservation-entry.ts';
import type { Write } from '../../shared/database/transaction.ts';

/** Stands for a reservation that was lost: it holds nothing, so its end charges the whole cost. */
export const lostEntry = (admittedAtMs: number, isFromCredit: boolean): Entry => ({
  admittedAtMs,
  tokens: undefined,
  holdNanos: 0n,
  isFromCredit,
  link: false,
});

/** Makes of the end of a `lostEntry` a write that needs no reservation, and fails if there is one. */
export const toChargeLate = ({ item: { Update }, refused }: Write): Write => {
  if (!Update) throw new Error('Reservations end by updates.');
  const { ':at': _, ...values } = Update.ExpressionAttributeValues ?? {};
  const ConditionExpression = 'attribute_exists(id) AND attribute_not_exists(fl.#id)';
  return { item: { Update: { ...Update, ConditionExpression, ExpressionAttributeValues: values } }, ...(refused && { refused }) };
};
