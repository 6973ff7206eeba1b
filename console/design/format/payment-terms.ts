/** The most days after which an invoice can be due. */
export const MAX_TERMS_DAYS = 365;

/** True for a text with so many days. */
export const isPaymentTerms = (text: string): boolean => /^\d{1,3}$/.test(text) && Number(text) <= MAX_TERMS_DAYS;
