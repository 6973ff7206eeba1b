/** True for an amount of credit: dollars other than zero, negative to deduct. */
export const isCredit = (text: string): boolean => /^-?\d{1,9}(\.\d{1,9})?$/.test(text) && /[1-9]/.test(text);
