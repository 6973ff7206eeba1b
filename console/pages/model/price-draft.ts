/** True for a price as the API takes it: dollars with at most nine decimals. */
export const isPrice = (text: string): boolean => /^\d{1,9}(\.\d{1,9})?$/.test(text);
